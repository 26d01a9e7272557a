import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { LogMetadata, WorkerDeploymentVersion } from '@temporalio/common';
import {
  type ActivityInterceptorsFactory,
  type InjectedSinks,
  type LogLevel,
  NativeConnection,
  Runtime,
  Worker,
  type WorkerDeploymentOptions,
} from '@temporalio/worker';
import type { WorkflowClientInterceptor } from '@temporalio/client';
import type { OpenTelemetrySinks } from '@temporalio/interceptors-opentelemetry/lib/workflow/definitions.js';
import { messageOf, safeFailures } from './failures.js';
import type { TemporalClient } from './client.js';
import {
  CertificateRenewals,
  connectionOptions,
  type TemporalOptions,
} from './connection-options.js';

export interface ServedQueue {
  readonly queue: string;
  readonly activities: object;
  readonly maxActivities: number;
  readonly hasWorkflows: boolean;
}

interface WorkersOptions {
  readonly temporal: TemporalOptions;
  /** Release for Temporal's worker versioning. Null disables versioning. */
  readonly version: WorkerDeploymentVersion | null;
  readonly queues: readonly ServedQueue[];
  readonly shutdownGraceMs: number;
  /** 0 disables audits. */
  readonly auditEveryMs: number;
  /** Null disables tracing. */
  readonly tracing: TemporalTracing | null;
}

interface WorkersLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

const FIRST_RESTART_PAUSE_MS = 500;
const MAX_RESTART_PAUSE_MS = 5_000;
const CHECK_RENEWALS_EVERY_MS = 1_000;
/** Few, because each queue keeps its polls open. */
const POLLS_FOR_ACTIVITIES = 2;
const SDK_METRICS_MS = 2_000;
/** Concurrent workflow tasks per queue. One thread runs them all, and each must end within 3 s. */
const MAX_WORKFLOW_TASKS = 10;
const CACHED_WORKFLOWS = 1_000;
/** Longest interval at which the SDK sends heartbeats, in which the audit stores its progress. */
const HEARTBEAT_EVERY_MS = 5_000;
/** The SDK's warning about queues that serve only activities, as those of rails do. */
const ONLY_ACTIVITIES_WARNING = 'No workflows registered';

/** Returns a free port on the loopback interface. */
export async function freeLoopbackPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** Configures the SDK, once per process. Metrics are served on a loopback port (0 for none). */
export function installRuntime(log: WorkersLog, metricsPort: number): void {
  const write = (level: LogLevel, message: string, about?: LogMetadata): void => {
    if ((level === 'ERROR' || level === 'WARN') && !message.startsWith(ONLY_ACTIVITIES_WARNING))
      log.warn({ sdk: true, ...logFields(about) }, message);
  };
  Runtime.install({
    shutdownSignals: [],
    logger: {
      log: write,
      trace: () => undefined,
      debug: () => undefined,
      info: () => undefined,
      warn: (message, about) => write('WARN', message, about),
      error: (message, about) => write('ERROR', message, about),
    },
    telemetryOptions: {
      logging: { forward: {}, filter: { core: 'WARN', other: 'ERROR' } },
      ...(metricsPort === 0
        ? {}
        : { metrics: { prometheus: { bindAddress: `127.0.0.1:${metricsPort}` } } }),
    },
  });
}

/** Names only the error's class, because its message may quote private data. */
function logFields(about: LogMetadata = {}): object {
  const { activityType: activity, workflowId, workflowType: workflow, attempt, error } = about;
  return {
    activity,
    workflow,
    workflowId,
    attempt,
    failure: error instanceof Error ? error.name : undefined,
  };
}

/** Returns a function that reads the SDK's metrics. The text is empty without a port or response. */
export function sdkMetrics(port: number): () => Promise<string> {
  return async () => {
    if (port === 0) return '';
    const signal = AbortSignal.timeout(SDK_METRICS_MS);
    const response = await fetch(`http://127.0.0.1:${port}/metrics`, { signal }).catch(() => null);
    return response?.ok === true ? response.text() : '';
  };
}

/**
 * Workflows wait too long to be pinned to a version, so running workflows move to the current one.
 * Not a default of every worker, because servers refuse it from workers without a version. (docs/operations/upgrade.md,
 * Worker versions)
 */
function deploymentOptions(version: WorkerDeploymentVersion): WorkerDeploymentOptions {
  return { version, useWorkerVersioning: true, defaultVersioningBehavior: 'AUTO_UPGRADE' };
}

/** The process's Temporal workers, one for each queue. Restarts them until the process stops. */
export class TemporalWorkers {
  private workers: Worker[] = [];
  private readonly stopping = new AbortController();
  private running: Promise<void> = Promise.resolve();

  constructor(
    private readonly options: WorkersOptions,
    private readonly client: TemporalClient,
    private readonly log: WorkersLog,
  ) {}

  start(): void {
    this.running = this.run();
  }

  get isPolling(): boolean {
    return (
      this.workers.length > 0 && this.workers.every((worker) => worker.getState() === 'RUNNING')
    );
  }

  /** Resolves when running activities have ended or `shutdownGraceMs` has passed. */
  async stop(): Promise<void> {
    this.stopping.abort();
    this.shutDown();
    await this.running;
  }

  private async run(): Promise<void> {
    const { signal } = this.stopping;
    for (
      let pauseMs = FIRST_RESTART_PAUSE_MS;
      !signal.aborted;
      pauseMs = Math.min(MAX_RESTART_PAUSE_MS, pauseMs * 2)
    ) {
      const began = Date.now();
      try {
        await this.serve();
      } catch (failure) {
        this.log.warn(
          { reason: messageOf(failure) },
          'the Temporal workers ended, and are restarted',
        );
      }
      if (Date.now() - began > MAX_RESTART_PAUSE_MS) pauseMs = FIRST_RESTART_PAUSE_MS;
      await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
    }
  }

  /** Connects, and runs the workers until one of them ends or the process stops. */
  private async serve(): Promise<void> {
    const { temporal } = this.options;
    const renewals = new CertificateRenewals(temporal.tls);
    let connection = await NativeConnection.connect(connectionOptions(temporal));
    const renewalTimer = setInterval(() => {
      if (renewals.isDue()) void this.reconnect(connection).then((fresh) => (connection = fresh));
    }, CHECK_RENEWALS_EVERY_MS);
    try {
      await this.prepareNamespace();
      const runs: Promise<void>[] = [];
      try {
        for (const queue of this.options.queues) {
          if (this.stopping.signal.aborted) break;
          const worker = await this.createWorker(connection, queue);
          this.workers.push(worker);
          // If one worker ends, all are restarted together.
          runs.push(worker.run().finally(() => this.shutDown()));
        }
        if (this.stopping.signal.aborted) this.shutDown();
        else
          this.log.info(
            { queues: this.options.queues.map(({ queue }) => queue) },
            'the Temporal workers are polling',
          );
      } catch (failure) {
        this.shutDown();
        await Promise.allSettled(runs);
        throw failure;
      }
      // Waits for all workers before the connection closes, because they share it.
      const ends = await Promise.allSettled(runs);
      for (const end of ends) if (end.status === 'rejected') throw end.reason;
    } finally {
      clearInterval(renewalTimer);
      this.workers = [];
      await connection.close().catch(() => undefined);
    }
  }

  /** Moves the workers to a connection with the renewed certificates, or keeps the old one. */
  private async reconnect(old: NativeConnection): Promise<NativeConnection> {
    try {
      const fresh = await NativeConnection.connect(connectionOptions(this.options.temporal));
      for (const worker of this.workers) worker.connection = fresh;
      await old.close().catch(() => undefined);
      this.log.info({}, 'the Temporal workers use renewed certificates');
      return fresh;
    } catch (failure) {
      this.log.warn({ reason: messageOf(failure) }, 'Temporal refused the renewed certificates');
      return old;
    }
  }

  /** Only warns if it has no permission, as in Temporal Cloud, where an administrator does this. */
  private async prepareNamespace(): Promise<void> {
    const warn =
      (message: string) =>
      (failure: unknown): void =>
        this.log.warn({ reason: messageOf(failure) }, message);
    const registered = await this.client
      .registerSearchAttributes()
      .catch(warn('the search attributes could not be registered'));
    if (registered !== undefined && registered.length > 0)
      this.log.info({ searchAttributes: registered }, 'search attributes registered');
    await this.client
      .keepAuditSchedule(this.options.auditEveryMs)
      .catch(warn('the schedule of the audit could not be created'));
  }

  private createWorker(
    connection: NativeConnection,
    { queue, activities, maxActivities, hasWorkflows }: ServedQueue,
  ): Promise<Worker> {
    const { temporal, version, shutdownGraceMs, tracing } = this.options;
    const workflows = {
      workflowBundle: { codePath: tracing === null ? BUNDLE_FILE : TRACED_BUNDLE_FILE },
      maxConcurrentWorkflowTaskExecutions: MAX_WORKFLOW_TASKS,
      maxCachedWorkflows: CACHED_WORKFLOWS,
    };
    return Worker.create({
      connection,
      namespace: temporal.namespace,
      taskQueue: queue,
      ...(hasWorkflows
        ? workflows
        : { maxConcurrentActivityTaskPolls: Math.min(POLLS_FOR_ACTIVITIES, maxActivities) }),
      activities,
      // Before `safeFailures`, so that traces contain the same details as the history.
      interceptors: { activity: [...(tracing === null ? [] : [tracing.activity]), safeFailures] },
      ...(tracing === null ? {} : { sinks: tracing.sinks }),
      maxConcurrentActivityTaskExecutions: maxActivities,
      maxHeartbeatThrottleInterval: HEARTBEAT_EVERY_MS,
      shutdownGraceTime: shutdownGraceMs,
      shutdownForceTime: shutdownGraceMs + 5_000,
      ...(version === null ? {} : { workerDeploymentOptions: deploymentOptions(version) }),
    });
  }

  private shutDown(): void {
    for (const worker of this.workers) if (worker.getState() === 'RUNNING') worker.shutdown();
  }
}

/** The bundled workflows, made by the build. */
export const BUNDLE_FILE = fileURLToPath(new URL('../../workflow-bundle.cjs', import.meta.url));

/** Workflows with OpenTelemetry, for workers that trace. */
export const TRACED_BUNDLE_FILE = fileURLToPath(
  new URL('../../workflow-bundle-traced.cjs', import.meta.url),
);

export interface TemporalTracing {
  readonly client: readonly WorkflowClientInterceptor[];
  readonly activity: ActivityInterceptorsFactory;
  /** Workflows export spans through sinks, because they cannot use the network. */
  readonly sinks: InjectedSinks<OpenTelemetrySinks>;
}
