import { VARIABLES } from '../src/config.js';
import { openLedger, type Ledger } from './ledgers/ledger.js';
import { evenLedger, type LedgerShape } from './ledgers/shape.js';
import type { LoadJob, LoadResult } from './load/job.js';
import { runLoad } from './load/run-load.js';
import type { Options } from './options.js';
import { say } from './report/say.js';
import { ApiProcess } from './service/api-process.js';
import { cpuMsOf, databasePid } from './service/cpu-time.js';
import { type GroupHistogram, groupsBetween } from './service/group-sizes.js';

/** What a load did, seen from both sides. */
export interface Run {
  readonly load: LoadResult;
  readonly groups: GroupHistogram;
  readonly details: Readonly<Record<string, unknown>>;
}

export type Load = Omit<LoadJob, 'port' | 'token' | 'warmUpS' | 'seconds' | 'perSecond'> & {
  readonly perSecond?: number;
};

const SMALL_ENTRIES = 10_000;
export const SMALL_LEDGER = evenLedger('small', SMALL_ENTRIES);

/** What rows are measured with: ledgers, the service on one of them, and load. */
export class Bench {
  readonly options: Options;
  /** As the service has them by configuration. */
  readonly groupsInFlight = VARIABLES.DESK_GROUPS_IN_FLIGHT.parse(process.env.DESK_GROUPS_IN_FLIGHT);
  readonly readConnections = VARIABLES.MYSQL_READ_CONNECTIONS.parse(process.env.MYSQL_READ_CONNECTIONS);
  private readonly serverUrl: string;
  private readonly profileFolder: string;
  private readonly ledgers = new Map<string, Ledger>();

  constructor(serverUrl: string, options: Options, profileFolder: string) {
    this.serverUrl = serverUrl;
    this.options = options;
    this.profileFolder = profileFolder;
  }

  /** Made when it is first asked for in a run. */
  async ledger(shape: LedgerShape): Promise<Ledger> {
    const known = this.ledgers.get(shape.name);
    if (known !== undefined) return known;
    say(`  opening the ledger ${shape.name} (${(shape.operations * 2).toLocaleString('en')} entries)`);
    const ledger = await openLedger(this.serverUrl, shape);
    if (ledger.madeInS !== null) say(`  made in ${ledger.madeInS.toFixed(1)} s`);
    this.ledgers.set(shape.name, ledger);
    return ledger;
  }

  /** Runs the API process on the ledger for as long as `work` lasts. Each row has a new one, so none warms up another. */
  async withApi<T>(ledger: Ledger, work: (api: ApiProcess) => Promise<T>): Promise<T> {
    const profileFolder = this.options.isProfiled ? this.profileFolder : null;
    const api = await ApiProcess.start({ url: ledger.url, profileFolder });
    try {
      return await work(api);
    } finally {
      await api.stop();
    }
  }

  /** Loads the API for the time of the options and tells what it took. Throws RowFailed. */
  async run(api: ApiProcess, ledger: Ledger, load: Load): Promise<Run> {
    const { seconds, warmUpS } = this.options;
    const databaseProcess = await databasePid(ledger.adminUrl);
    const groupsBefore = await api.groupSizes();
    const apiMs = timer(() => api.cpuMs());
    const databaseMs = timer(() => cpuMsOf(databaseProcess));
    const result = await runLoad({
      perSecond: null,
      ...load,
      port: api.port,
      token: ledger.token,
      ...(load.requests.kind === 'listed' && load.requests.order === 'once'
        ? { seconds: UNTIL_THE_LIST_ENDS_S, warmUpS: 0 }
        : { seconds, warmUpS }),
    });
    const cpuUsPerRequest = {
      api: perRequestUs(apiMs(), result.answered),
      database: perRequestUs(databaseMs(), result.answered),
      generator: result.generatorUsPerRequest,
    };
    const groups = groupsBetween(groupsBefore, await api.groupSizes());
    return { load: result, groups, details: { load: result, groups, cpuUsPerRequest } };
  }
}

/** What was spent since it was made. */
function timer(spentMs: () => number | null): () => number | null {
  const before = spentMs();
  return () => {
    const after = spentMs();
    return before === null || after === null ? null : after - before;
  };
}

function perRequestUs(spentMs: number | null, requests: number): number | null {
  return spentMs === null ? null : (spentMs * 1000) / requests;
}

const UNTIL_THE_LIST_ENDS_S = 120;
