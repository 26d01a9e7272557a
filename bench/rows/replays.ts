import { randomUUID } from 'node:crypto';
import { SMALL_LEDGER } from '../bench.js';
import { UNIT_RAW } from '../ledgers/history.js';
import { Random } from '../ledgers/random.js';
import type { ListedRequest } from '../load/job.js';
import { transferBody } from '../load/request-source.js';
import { latencyText, perSecond } from '../report/text.js';
import { atLeast, type Row } from '../row.js';
import { randomParties, replaySame } from './transfers.js';

const CLIENTS = 64;
const KEYS = 5_000;

/** Repeats completed transfers, which writes nothing. */
export const replaysRow: Row = {
  name: 'replays',
  title: 'Replays of used keys, 64 clients',
  async run(bench) {
    const ledger = await bench.ledger(SMALL_LEDGER);
    const { sources } = randomParties(ledger);
    const used = Array.from({ length: KEYS }, (_, index) => ({
      key: randomUUID(),
      source: sources[index % sources.length] ?? ledger.memberId,
      destination: sources[(index + 1) % sources.length] ?? ledger.memberId,
    }));
    const list = used.map(({ key, source, destination }): ListedRequest => {
      const body = transferBody(source, destination, UNIT_RAW.toString(), 'COPM');
      return { path: '/v1/transfers', post: { key, body } };
    });
    const run = await bench.withApi(ledger, async (api) => {
      await bench.run(api, ledger, {
        connections: CLIENTS,
        expectedStatus: 201,
        requests: { kind: 'listed', list, order: 'once' },
      });
      return bench.run(api, ledger, {
        connections: CLIENTS,
        expectedStatus: 200,
        requests: { kind: 'listed', list, order: 'random' },
      });
    });
    const chance = new Random(5);
    const bare = await replaySame(ledger, run, () => chance.pick(used));
    const { load } = run;
    return {
      figures: `${perSecond(load.perSecond)}, ${latencyText(load.latency)}`,
      baseline: `the same look-ups in the same group sizes by the bare driver: ${perSecond(bare.commandsPerSecond)}`,
      ratio: load.perSecond / bare.commandsPerSecond,
      targets: [atLeast('per second', load.perSecond, 8_000)],
      details: { ...run.details, bare },
    };
  },
};
