import { testEnvironment } from './api.js';
import { freePorts, ServiceProcess } from './service-process.js';
import { type TemporalAddress, temporalEnvironment } from './temporal.js';

/** As compose has it. */
const MEMORY = {
  NODE_OPTIONS: '--max-old-space-size=256',
  MALLOC_ARENA_MAX: '2',
  MALLOC_TRIM_THRESHOLD_: '131072',
};

/** The worker as it runs in production: a process of its own. It is ready when it polls Temporal. */
export class WorkerProcess extends ServiceProcess {
  /** Over the database and this Temporal; nothing runs before `start`. */
  static async prepare(
    mysqlUrl: string,
    temporal: TemporalAddress,
    environment: Readonly<Record<string, string>> = {},
  ): Promise<WorkerProcess> {
    const [adminPort] = await freePorts(1);
    const others = {
      ...temporalEnvironment(temporal),
      ...MEMORY,
      ...environment,
    };
    return new WorkerProcess('worker', testEnvironment(mysqlUrl, others), adminPort!);
  }

  /** Starts the process, and waits until it is ready. */
  static async start(...parts: Parameters<typeof WorkerProcess.prepare>): Promise<WorkerProcess> {
    const worker = await WorkerProcess.prepare(...parts);
    await worker.start();
    return worker;
  }
}
