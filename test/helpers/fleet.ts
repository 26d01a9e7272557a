import { ApiProcess } from './api-process.js';
import { Haproxy } from './haproxy.js';
import type { ServiceProcess } from './service-process.js';
import { type TemporalAddress, temporalEnvironment } from './temporal.js';
import { WorkerProcess } from './worker-process.js';

interface WantedFleet {
  readonly mysqlUrl: string;
  readonly temporal: TemporalAddress;
  /** Two of each unless said. A single API process has no proxy before it. */
  readonly apis?: number;
  readonly workers?: number;
  readonly environment?: Readonly<Record<string, string>>;
}

/** Longer than two checks of the proxy. */
const STOP_DELAY_MS = '2000';

/** Several API processes behind a proxy, and several workers, as one service. */
export class Fleet {
  private constructor(
    readonly apis: readonly ApiProcess[],
    readonly workers: readonly WorkerProcess[],
    private readonly proxy: Haproxy | null,
  ) {}

  static async start(wanted: WantedFleet): Promise<Fleet> {
    const { mysqlUrl, temporal, environment = {} } = wanted;
    const { apis: apiCount = 2, workers: workerCount = 2 } = wanted;
    const behind = { TRUSTED_PROXIES: '127.0.0.1', STOP_DELAY_MS };
    const several = <T>(count: number, start: () => Promise<T>): Promise<T[]> =>
      Promise.all(Array.from({ length: count }, start));
    const [apis, workers] = await Promise.all([
      several(apiCount, () =>
        ApiProcess.start(mysqlUrl, { ...temporalEnvironment(temporal), ...behind, ...environment }),
      ),
      several(workerCount, () => WorkerProcess.start(mysqlUrl, temporal, environment)),
    ]);
    const portOf = (url: string): number => Number(new URL(url).port);
    const servers = apis.map(({ baseUrl, adminUrl }, index) => ({
      name: `api-${index + 1}`,
      port: portOf(baseUrl),
      adminPort: portOf(adminUrl),
    }));
    return new Fleet(apis, workers, apiCount > 1 ? await Haproxy.start(servers) : null);
  }

  /** Of the proxy, or of the only API process. */
  get baseUrl(): string {
    return (this.proxy ?? this.apis[0]!).baseUrl;
  }

  get processes(): readonly ServiceProcess[] {
    return [...this.apis, ...this.workers];
  }

  /** Ends everything at once. */
  async end(): Promise<void> {
    await this.proxy?.remove();
    await Promise.all(this.processes.map((one) => one.kill()));
  }
}
