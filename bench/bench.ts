import { availableParallelism } from 'node:os';
import { VARIABLES } from '../src/config/config.js';
import { type Ledger, makeLedger, openLedger } from './ledgers/ledger.js';
import { evenLedger, type LedgerShape } from './ledgers/shape.js';
import type { LoadJob, LoadResult } from './load/job.js';
import { runLoad } from './load/run-load.js';
import type { Options } from './options.js';
import { say } from './report/say.js';
import { RowFailed } from './row-failed.js';
import { ApiProcess } from './service/api-process.js';
import { type GroupHistogram, groupsBetween } from './service/group-sizes.js';
import { cpuMsOf, databasePid, growthOf, idleMs, perRequestUs } from './service/process-figures.js';
import type { ServiceProcess } from './service/service-process.js';
import type { Environment } from './service/settings.js';
import { unreachableTemporal, BenchTemporal } from './service/temporal.js';
import { SupportProcess } from './service/support-process.js';
import { startWorker } from './service/worker-process.js';

/** The result of a load, as measured by the generator and by the service. */
export interface Run {
  readonly load: LoadResult;
  readonly groups: GroupHistogram;
  /** Microseconds for each request, warm-up included; null if the system does not report them. */
  readonly cpuUsPerRequest: Readonly<Record<'api' | 'database' | 'generator', number | null>>;
  /** Share of the machine's processor time that nothing used, warm-up included. */
  readonly idleShare: number | null;
  readonly details: Readonly<Record<string, unknown>>;
}

export type Load = Omit<LoadJob, 'ports' | 'token' | 'warmUpS' | 'seconds' | 'perSecond'> & {
  readonly perSecond?: number;
};

/** The two running processes of the service. */
export interface Service {
  readonly api: ApiProcess;
  readonly worker: ServiceProcess;
  /** Null if Temporal cannot be reached. */
  readonly temporal: BenchTemporal | null;
}

type Apis = readonly [ApiProcess, ...ApiProcess[]];

const SMALL_ENTRIES = 10_000;
export const SMALL_LEDGER = evenLedger('small', SMALL_ENTRIES);

/** The servers that the suite measures on. */
interface Servers {
  readonly mysqlAdminUrl: string;
  readonly temporalAddress: string;
}

/** Provides ledgers, the service running on a ledger, and load. */
export class Bench {
  /** Read connections of the service, by its configuration. */
  readonly readConnections = VARIABLES.MYSQL_READ_CONNECTIONS.parse(
    process.env.MYSQL_READ_CONNECTIONS,
  );
  private readonly serverUrl: string;
  private readonly temporalAddress: string;
  private readonly profileFolder: string | null;
  private readonly ledgers = new Map<string, Ledger>();

  constructor(
    servers: Servers,
    readonly options: Options,
    profileFolder: string,
  ) {
    this.serverUrl = servers.mysqlAdminUrl;
    this.temporalAddress = servers.temporalAddress;
    this.profileFolder = options.isProfiled ? profileFolder : null;
  }

  /** Returns the ledger of this shape, which is opened when first requested. */
  async ledger(shape: LedgerShape): Promise<Ledger> {
    const known = this.ledgers.get(shape.name);
    if (known !== undefined) return known;
    say(
      `  opening the ledger ${shape.name} (${(shape.operations * 2).toLocaleString('en')} entries)`,
    );
    const ledger = await openLedger(this.serverUrl, shape);
    if (ledger.madeInS !== null) say(`  made in ${ledger.madeInS.toFixed(1)} s`);
    this.ledgers.set(shape.name, ledger);
    return ledger;
  }

  /** Makes a ledger that no other row uses, for rows that leave work that a worker would continue. */
  async newLedger(shape: LedgerShape): Promise<Ledger> {
    say(
      `  making the ledger ${shape.name} (${(shape.operations * 2).toLocaleString('en')} entries)`,
    );
    return makeLedger(this.serverUrl, shape);
  }

  /**
   * Runs the API process on the ledger for as long as `work` lasts. Each row has a new process, so none warms up
   * another.
   */
  async withApi<T>(ledger: Ledger, work: (api: ApiProcess) => Promise<T>): Promise<T> {
    const temporal = { address: this.temporalAddress, namespace: 'default' };
    const api = await ApiProcess.start({ url: ledger.url, temporal }, this.profileFolder);
    return whileRunning(api, () => work(api));
  }

  /** Runs the support desk on the ledger for as long as `work` lasts. */
  async withSupport<T>(ledger: Ledger, work: (support: SupportProcess) => Promise<T>): Promise<T> {
    const temporal = { address: this.temporalAddress, namespace: 'default' };
    const environment = { url: ledger.url, temporal };
    const support = await SupportProcess.start(environment, this.profileFolder);
    return whileRunning(support, () => work(support));
  }

  /** Runs the row with several API processes. */
  withApis<T>(ledger: Ledger, count: number, work: (apis: Apis) => Promise<T>): Promise<T> {
    const withMore = (started: readonly ApiProcess[]): Promise<T> =>
      this.withApi(ledger, (api) => {
        const apis: Apis = [api, ...started];
        return apis.length < count ? withMore(apis) : work(apis);
      });
    return withMore([]);
  }

  /** Runs API and worker, on an empty Temporal namespace, or with an unreachable Temporal. */
  async withService<T>(
    ledger: Ledger,
    work: (service: Service) => Promise<T>,
    temporal: 'there' | 'away' = 'there',
  ): Promise<T> {
    if (temporal === 'away')
      return this.runBoth({ url: ledger.url, temporal: await unreachableTemporal() }, null, work);
    const own = await BenchTemporal.open(this.temporalAddress);
    try {
      return await this.runBoth({ url: ledger.url, temporal: own }, own, work);
    } finally {
      await own.close();
    }
  }

  /** Loads the API for the time in the options and returns what it took. Throws RowFailed. */
  run(api: ApiProcess, ledger: Ledger, load: Load): Promise<Run> {
    return this.runOver([api], ledger, load);
  }

  /**
   * Spreads the connections over several API processes. The warm-up is longer by their number, because each process
   * receives only a part of the requests. Group sizes are those of the first process.
   */
  async runOver(apis: Apis, ledger: Ledger, load: Load): Promise<Run> {
    const { seconds, warmUpS } = this.options;
    const [api, ...others] = apis;
    const databaseProcess = await databasePid(ledger.adminUrl);
    const groupsBefore = await api.groupSizes();
    const apiMs = growthOf(() =>
      apis.reduce<number | null>((sum, one) => added(sum, one.cpuMs()), 0),
    );
    const databaseMs = growthOf(() => cpuMsOf(databaseProcess));
    const idle = growthOf(idleMs);
    const began = performance.now();
    const result = await runLoad({
      perSecond: null,
      ...load,
      ports: [api.port, ...others.map(({ port }) => port)],
      token: ledger.token,
      ...(load.requests.kind === 'listed' && load.requests.order === 'once'
        ? { seconds: UNTIL_THE_LIST_ENDS_S, warmUpS: 0 }
        : { seconds, warmUpS: warmUpS * apis.length }),
    });
    const cpuUsPerRequest = {
      api: perRequestUs(apiMs(), result.answered),
      database: perRequestUs(databaseMs(), result.answered),
      generator: result.generatorUsPerRequest,
    };
    const idleForMs = idle();
    const idleShare =
      idleForMs === null
        ? null
        : idleForMs / ((performance.now() - began) * availableParallelism());
    const groups = groupsBetween(groupsBefore, await api.groupSizes());
    const figures = { load: result, groups, cpuUsPerRequest, idleShare };
    return { ...figures, details: figures };
  }

  private async runBoth<T>(
    environment: Environment,
    temporal: BenchTemporal | null,
    work: (service: Service) => Promise<T>,
  ): Promise<T> {
    const worker = await startWorker(environment, temporal !== null, this.profileFolder);
    return whileRunning(worker, async () => {
      const api = await ApiProcess.start(environment, this.profileFolder);
      return whileRunning(api, () => work({ api, worker, temporal }));
    });
  }
}

/** Ends the process after the work. A failure of the work takes precedence over how the process ended. */
async function whileRunning<T>(running: ServiceProcess, work: () => Promise<T>): Promise<T> {
  let done: T;
  try {
    done = await work();
  } catch (fault) {
    await running.stop().catch((failure: unknown) => {
      if (!(failure instanceof RowFailed)) throw failure;
      say(`  ${failure.message}`);
    });
    throw fault;
  }
  await running.stop();
  return done;
}

function added(one: number | null, other: number | null): number | null {
  return one === null || other === null ? null : one + other;
}

const UNTIL_THE_LIST_ENDS_S = 120;
