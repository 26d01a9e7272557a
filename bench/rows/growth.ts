import { SMALL_LEDGER } from '../bench.js';
import { evenLedger, type LedgerShape } from '../ledgers/shape.js';
import { latencyText, perSecond } from '../report/text.js';
import { atLeast, type Row } from '../row.js';
import { randomParties, runTransfers } from './transfers.js';

const CLIENTS = 64;
const MIN_SHARE = 0.9;

const MILLION = evenLedger('million', 1_000_000);
const TEN_MILLION = evenLedger('ten_million', 10_000_000);
const QUICK = evenLedger('quick', 100_000);

/** The workload with random accounts on larger and larger ledgers. The smallest ledger is the baseline. */
export const growthRow: Row = {
  name: 'growth',
  title: 'Transfers, 64 clients, 1,000 random accounts, as the ledger grows',
  async run(bench) {
    const { isQuick, isFull } = bench.options;
    const larger = isQuick ? [QUICK] : isFull ? [MILLION, TEN_MILLION] : [MILLION];
    const measured: { shape: LedgerShape; rate: number; text: string; details: unknown }[] = [];
    for (const shape of [SMALL_LEDGER, ...larger]) {
      const ledger = await bench.ledger(shape);
      const { load, details } = await runTransfers(bench, ledger, randomParties(ledger), CLIENTS);
      const text = `${ledger.entries.toLocaleString('en')} entries: ${perSecond(load.perSecond)}, ${latencyText(load.latency)}`;
      measured.push({
        shape,
        rate: load.perSecond,
        text,
        details: { entries: ledger.entries, ...details },
      });
    }
    const [small, ...others] = measured;
    if (small === undefined) throw new Error('nothing was measured');
    const ratio = Math.min(...others.map(({ rate }) => rate / small.rate));
    return {
      figures: others.map(({ text }) => text).join('; '),
      baseline: small.text,
      ratio,
      targets: [atLeast('of the throughput on the small ledger', ratio, MIN_SHARE)],
      details: Object.fromEntries(measured.map(({ shape, details }) => [shape.name, details])),
    };
  },
};
