import { atLeast, atMost, type Measured, type Row } from '../row.js';
import { type Bench, type Load, type Run, SMALL_LEDGER } from '../bench.js';
import { type NextTransfer, recordGroups } from '../baseline/groups.js';
import { type Replayed, replayGroups } from '../baseline/replay.js';
import { GROUPS_IN_FLIGHT } from '../../src/processes/build-ledger.js';
import { UNIT_RAW } from '../ledgers/history.js';
import type { Ledger } from '../ledgers/ledger.js';
import { Random } from '../ledgers/random.js';
import { settle } from '../ledgers/settle.js';
import { latencyText, perSecond } from '../report/text.js';
import { sizesOf } from '../service/group-sizes.js';
import { cpuMsOf, databasePid, growthOf, perRequestUs } from '../service/process-figures.js';

export const CLIENTS = 64;
const ACCOUNTS = 1_000;
/** Enough for a steady figure; each one is first recorded and rolled back. */
const MAX_REPLAYED = 30_000;

/** The accounts that a workload sends from and to. */
export interface Parties {
  readonly sources: Ledger['accountIds'];
  readonly destinations: Ledger['accountIds'];
}

const hot: Row = {
  name: 'transfers-hot',
  title: 'Transfers, 64 clients, one hot source',
  run: (bench) => measure(bench, { perSecond: 5_000, p99Ms: 25, ofBaseline: 0.5 }, hotParties),
};

const random: Row = {
  name: 'transfers-random',
  title: 'Transfers, 64 clients, 1,000 random accounts',
  run: (bench) => measure(bench, { perSecond: 4_200, p99Ms: 30, ofBaseline: 0.47 }, randomParties),
};

async function measure(
  bench: Bench,
  target: { readonly perSecond: number; readonly p99Ms: number; readonly ofBaseline: number },
  choose: (ledger: Ledger) => Parties,
): Promise<Measured> {
  const ledger = await bench.ledger(SMALL_LEDGER);
  const parties = choose(ledger);
  const run = await runTransfers(bench, ledger, parties, CLIENTS);
  const { load } = run;
  const bare = await replaySame(ledger, run, anyOf(parties));
  const ratio = load.perSecond / bare.commandsPerSecond;
  return {
    figures: `${perSecond(load.perSecond)}, ${latencyText(load.latency)}`,
    baseline: `the same SQL in the same group sizes by the bare driver, without HTTP: ${perSecond(bare.commandsPerSecond)}`,
    ratio,
    targets: [
      atLeast('per second', load.perSecond, target.perSecond),
      atMost('p99 ms', load.latency.p99Ms, target.p99Ms),
      atLeast('of the baseline', ratio, target.ofBaseline),
    ],
    details: { ...run.details, bare },
  };
}

const one: Row = {
  name: 'transfers-one',
  title: 'Transfers, 1 client',
  async run(bench) {
    const ledger = await bench.ledger(SMALL_LEDGER);
    const parties = randomParties(ledger);
    const run = await runTransfers(bench, ledger, parties, 1);
    const bare = await replaySame(ledger, run, anyOf(parties));
    const { latency } = run.load;
    return {
      figures: `${latencyText(latency)}, ${perSecond(run.load.perSecond)}`,
      baseline: `the same SQL, one transfer at a time, by the bare driver: ${latencyText(bare.latency)}`,
      ratio: bare.latency.p50Ms / latency.p50Ms,
      targets: [atMost('p50 of the bare driver', latency.p50Ms / bare.latency.p50Ms, 1.15)],
      details: { ...run.details, bare },
    };
  },
};

export const transferRows: readonly Row[] = [hot, random, one];

export function hotParties({ accountIds: [first, ...others] }: Ledger): Parties {
  return { sources: first === undefined ? [] : [first], destinations: others };
}

/** A thousand accounts spread over the whole ledger. */
export function randomParties({ accountIds }: Ledger): Parties {
  const step = Math.floor(accountIds.length / ACCOUNTS);
  const chosen = accountIds.filter((_, index) => index % step === 0).slice(0, ACCOUNTS);
  return { sources: chosen, destinations: chosen };
}

/** New transfers through HTTP. */
export function runTransfers(
  bench: Bench,
  ledger: Ledger,
  parties: Parties,
  connections: number,
): Promise<Run> {
  return bench.withApi(ledger, (api) => bench.run(api, ledger, loadOf(parties, connections)));
}

export function loadOf(parties: Parties, connections: number): Load {
  return {
    connections,
    expectedStatus: 201,
    requests: { kind: 'transfers', ...parties, raw: UNIT_RAW.toString(), asset: 'COPM' },
  };
}

/** The run's groups, sent by the bare driver with as many groups at a time, and the CPU time for each transfer. */
export async function replaySame(
  ledger: Ledger,
  run: Run,
  next: NextTransfer,
): Promise<Replayed & { readonly cpuUs: Readonly<Record<'driver' | 'database', number | null>> }> {
  let commands = 0;
  const sizes = sizesOf(run.groups).filter((size) => (commands += size) <= MAX_REPLAYED);
  const groups = await recordGroups(ledger, sizes, next);
  await settle(ledger.adminUrl);
  const databaseProcess = await databasePid(ledger.adminUrl);
  const driverMs = growthOf(() => cpuMsOf(process.pid));
  const databaseMs = growthOf(() => cpuMsOf(databaseProcess));
  const replayed = await replayGroups(ledger.url, groups, GROUPS_IN_FLIGHT);
  const sent = groups.reduce((sum, group) => sum + group.commands, 0);
  const cpuUs = {
    driver: perRequestUs(driverMs(), sent),
    database: perRequestUs(databaseMs(), sent),
  };
  return { ...replayed, cpuUs };
}

export function anyOf({ sources, destinations }: Parties): NextTransfer {
  const chance = new Random(4);
  return () => {
    const source = chance.pick(sources);
    let destination = chance.pick(destinations);
    while (destination === source) destination = chance.pick(destinations);
    return { source, destination };
  };
}
