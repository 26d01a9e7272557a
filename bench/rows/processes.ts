import { type Bench, type Run, SMALL_LEDGER } from '../bench.js';
import type { Ledger } from '../ledgers/ledger.js';
import { latencyText, perSecond } from '../report/text.js';
import { atLeast, atMost, type Measured, type Row } from '../row.js';
import { hotParties, loadOf, type Parties, randomParties } from './transfers.js';

const PROCESSES = [2, 4] as const;
const CLIENTS = 64;
/** Low, because behind the proxy all requests about a hot source reach one process. */
const MIN_HOT_SHARE = 0.2;
const MIN_RANDOM_SHARE = 0.6;
const MAX_P99_MS = 300;

/**
 * Spreads the clients over several API processes, whose groups contend for the accounts and the tenant's event counter.
 */
export const processRows: readonly Row[] = [
  {
    name: 'processes-hot',
    title: 'Transfers, 64 clients, one hot source, from 2 and 4 API processes',
    run: (bench) => measure(bench, hotParties, MIN_HOT_SHARE),
  },
  {
    name: 'processes-random',
    title: 'Transfers, 64 clients, 1,000 random accounts, from 2 and 4 API processes',
    run: (bench) => measure(bench, randomParties, MIN_RANDOM_SHARE),
  },
];

/** A 503 fails the row: every answer must be 201. */
async function measure(
  bench: Bench,
  choose: (ledger: Ledger) => Parties,
  minShare: number,
): Promise<Measured> {
  const ledger = await bench.ledger(SMALL_LEDGER);
  const load = loadOf(choose(ledger), CLIENTS);
  const runs = new Map<number, Run>();
  for (const count of [1, ...PROCESSES])
    runs.set(
      count,
      await bench.withApis(ledger, count, (apis) => bench.runOver(apis, ledger, load)),
    );
  const figures = Array.from(
    runs,
    ([
      count,
      {
        load: { perSecond: rate, latency },
      },
    ]) => ({ count, rate, latency }),
  );
  const [one, ...several] = figures.map((figure) => ({
    ...figure,
    text: `${figure.count}: ${perSecond(figure.rate)}, ${latencyText(figure.latency)}`,
  }));
  if (one === undefined) throw new Error('nothing was measured');
  const ratio = Math.min(...several.map(({ rate }) => rate / one.rate));
  return {
    figures: several.map(({ text }) => text).join('; '),
    baseline: `one process: ${one.text}`,
    ratio,
    targets: [
      atLeast("of one process's figure", ratio, minShare),
      atMost('p99 ms', Math.max(...several.map(({ latency }) => latency.p99Ms)), MAX_P99_MS),
    ],
    details: Object.fromEntries(Array.from(runs, ([count, { details }]) => [count, details])),
  };
}
