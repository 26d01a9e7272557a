import { hostname } from 'node:os';
import {
  type Activities,
  type ActivityServices,
  createActivities,
} from '../../activities/index.js';
import { policiesSweep } from '../approvals/policies.js';
import { Approvals, expirySweep } from '../approvals/service.js';
import { auditMetrics } from '../auditor/audit.js';
import { BatchWorkflowService, rowMetrics } from '../batches/workflow-service.js';
import { filesSweep, lapseSweep, rowsSweep, uploadsSweep } from '../batches/sweeps.js';
import type { WorkerConfig } from '../config/config.js';
import { temporalOptions } from '../config/servers.js';
import { ConcurrencyLimit } from '../core/concurrency.js';
import { createAdmin, Readiness } from '../http/admin.js';
import { ErrorWriter } from '../http/errors.js';
import { describeFault, type Logger } from '../http/logging.js';
import { keyringMetrics } from '../http/metrics.js';
import { listen, type RunningServer } from '../http/node-server.js';
import { payoutApproval } from '../payouts/decide.js';
import { stuckMetrics } from '../payouts/metrics.js';
import { simulatedReports } from '../payouts/rails/registry.js';
import { railEventsSweep } from '../payouts/sweeps.js';
import { requestsSweep } from '../requests/log.js';
import { restoreMetrics } from '../restores/begin-restore.js';
import { SheetReaders } from '../spreadsheets/worker-thread/sheet-readers.js';
import { expiredStatementsSweep, statementsSweep } from '../statements/statement-maker.js';
import { dailyTotalsSweep } from '../support/totals-sweep.js';
import { railQueue } from '../temporal/contracts.js';
import {
  outboxMetrics,
  reconciliationMetrics,
  sweeperMetrics,
  temporalMetrics,
} from '../temporal/metrics.js';
import { reconciliationSweep } from '../temporal/reconciliation.js';
import { outboxSweep } from '../temporal/relay.js';
import { SignalTimes } from '../temporal/signal-times.js';
import { type Sweep, Sweeper } from '../temporal/sweeper.js';
import {
  sdkMetrics,
  type ServedQueue,
  type TemporalTracing,
  TemporalWorkers,
} from '../temporal/workers.js';
import { transferApproval } from '../transfers/approval-outcomes.js';
import type { WebhookDeps } from '../webhooks/deps.js';
import { WebhookDispatcher } from '../webhooks/dispatcher.js';
import { lagMetrics, webhookMetrics } from '../webhooks/metrics.js';
import type { Sending } from '../webhooks/sender.js';
import { attemptsSweep, endpointsSweep, retentionSweep } from '../webhooks/sweeps.js';
import { type TemporalParts, WORKFLOW_RESOURCES } from './build-temporal.js';
import { buildCallbacks, buildWebhookParts, type Core } from './build-api.js';
import { ledgerFitness, prepareLedger } from './build-ledger.js';
import { buildWorkerRails } from './build-rails.js';

/** Activities of a task queue at a time, except in the queue of webhooks. */
const ACTIVITIES_AT_ONCE = 40;
/** Endpoints that are sent to at a time; as many slow endpoints have separate places. */
const ENDPOINTS_AT_ONCE = 1_000;

export interface WorkerDeps {
  readonly admin: RunningServer;
  readonly sweeper: Sweeper;
  readonly workers: TemporalWorkers;
  /** Resolves when running work has ended. */
  readonly stop: () => Promise<void>;
}

interface SdkParts {
  readonly tracing: TemporalTracing | null;
  /** Loopback port of the SDK's metrics. 0 if disabled. */
  readonly metricsPort: number;
}

/** Temporal workers start once Temporal is reachable, everything else immediately. */
export async function openWorker(
  config: WorkerConfig,
  core: Core,
  temporal: TemporalParts,
  sending: Sending,
  logger: Logger,
  { tracing, metricsPort }: SdkParts = { tracing: null, metricsPort: 0 },
): Promise<WorkerDeps> {
  const { clock, database, registry } = core;
  const stopping = new AbortController();
  const sheets = new SheetReaders();
  const observer = webhookMetrics(registry, (fault) =>
    logger.warn({ fault: describeFault(fault) }, 'sending webhooks failed, and is retried'),
  );
  const webhooks = buildWebhookParts(config, core, sending, temporal, observer);
  const dispatcher = new WebhookDispatcher(webhooks, ENDPOINTS_AT_ONCE);
  const { services, sweeps, rails } = buildWorkerServices(
    config,
    core,
    temporal,
    webhooks,
    sheets,
    logger,
  );
  const activities = createActivities({ ...services, stopping: stopping.signal });
  const workers = buildWorkers(config, temporal, activities, rails, logger, tracing);
  const sweeper = buildSweeper(core, sweeps, logger);
  outboxMetrics(registry, temporal.outbox, clock);
  stuckMetrics(registry, database.reader, clock);
  restoreMetrics(registry, database.reader);
  lagMetrics(registry, database.reader, clock);
  temporalMetrics(registry, temporal.client, workers);
  keyringMetrics(registry, config);
  const readiness = new Readiness(async () => (workers.isPolling ? ledgerFitness(core) : 'unfit'));
  const errors = new ErrorWriter(config.DOCS_URL);
  const admin = createAdmin({ registry, readiness, errors, moreMetrics: sdkMetrics(metricsPort) });
  const server = await listen(admin, errors, { host: config.ADMIN_HOST, port: config.ADMIN_PORT });
  void prepareLedger(core);
  core.rollbacks.start(() => temporal.client.auditCheckpoint());
  sweeper.start();
  if (config.WORKER_QUEUES.includes('webhooks')) dispatcher.start();
  workers.start();
  const stop = async (): Promise<void> => {
    readiness.stop();
    stopping.abort();
    core.rollbacks.stop();
    await Promise.all([
      sweeper.stop(),
      dispatcher.stop(),
      workers.stop(),
      temporal.notifier.stop(),
    ]);
    await sheets.close();
  };
  return { admin: server, sweeper, workers, stop };
}

interface WorkerServices {
  readonly services: Omit<ActivityServices, 'stopping'>;
  readonly sweeps: readonly Sweep[];
  readonly rails: ReadonlySet<string>;
}

function buildAudit(config: WorkerConfig, { database, clock, registry, rollbacks }: Core) {
  const audit = { database, clock, everyMs: config.AUDIT_PASS_EVERY_S * 1_000 };
  return { audit, rollbacks, onAudited: auditMetrics(registry, database.reader, audit) };
}

function buildWorkerServices(
  config: WorkerConfig,
  core: Core,
  temporal: TemporalParts,
  webhooks: WebhookDeps,
  sheets: SheetReaders,
  logger: Logger,
): WorkerServices {
  const { clock, database, writer, writers, recipientBudget } = core;
  const { client, outbox, relay, notifier } = temporal;
  // Separate writers, so that rows of batches do not delay approvals and payouts.
  const payoutDeps = { ...core, writer: writers.add('payouts') };
  const batchLimits = buildBatchLimits(ACTIVITIES_AT_ONCE);
  const batches = new BatchWorkflowService({
    database,
    recipientBudget,
    writer: writers.add('batches'),
    clock,
    baseUrl: config.BASE_URL,
    notifier,
    sheets,
    limits: batchLimits,
    onRows: rowMetrics(core.registry),
  });
  const rails = buildWorkerRails(config, payoutDeps, outbox, logger);
  const deciding = [writer, database.reader, clock, notifier] as const;
  const transferApprovals = new Approvals(transferApproval, ...deciding);
  const payoutApprovals = new Approvals(payoutApproval, ...deciding, rails.names);
  const callbacks = buildCallbacks(config, payoutDeps, temporal, logger, rails.observer);
  return {
    rails: rails.names,
    services: {
      staff: { database, clock, encryptionKeys: config.ENCRYPTION_KEYS },
      signalTimes: new SignalTimes(client),
      transferApprovals,
      payoutApprovals,
      queue: rails.queue,
      batches,
      webhooks,
      ...buildAudit(config, core),
    },
    sweeps: [
      expirySweep('transfers', transferApprovals),
      expirySweep('payouts', payoutApprovals),
      policiesSweep(core),
      ...rails.sweeps,
      ...simulatedReports(core, config.PAYOUT_RAILS, callbacks),
      outboxSweep(outbox, relay),
      endpointsSweep(core),
      attemptsSweep(core),
      retentionSweep(core),
      uploadsSweep(core, config.UPLOADS_KEPT_DAYS),
      filesSweep(batches),
      lapseSweep(core),
      rowsSweep(core, 'unpaid', config.PROBLEM_ROWS_KEPT_DAYS),
      rowsSweep(core, 'paid', config.BATCH_ROWS_KEPT_DAYS),
      requestsSweep(core),
      statementsSweep(core, 'short'),
      statementsSweep(core, 'long'),
      expiredStatementsSweep(core, config.STATEMENTS_KEPT_DAYS),
      railEventsSweep(core, config.RAIL_EVENTS_KEPT_DAYS),
      dailyTotalsSweep(core),
      buildReconciliation(config, core, temporal),
    ],
  };
}

function buildReconciliation(
  config: WorkerConfig,
  { database, clock, registry }: Core,
  { client, outbox }: TemporalParts,
): Sweep {
  return reconciliationSweep({
    database,
    outbox,
    client,
    resources: WORKFLOW_RESOURCES,
    clock,
    lookAgainMs: config.WORKFLOW_LOOK_AGAIN_S * 1_000,
    onBehind: reconciliationMetrics(registry),
  });
}

function buildSweeper(
  { database, databaseClock, registry }: Core,
  sweeps: WorkerServices['sweeps'],
  logger: Logger,
): Sweeper {
  const onTrouble = (sweep: string, fault: unknown): void =>
    logger.warn({ sweep, fault: describeFault(fault) }, 'a round of the sweeper failed');
  return new Sweeper({
    database,
    sweeps,
    label: `${hostname()}:${process.pid}`,
    observer: sweeperMetrics(registry, onTrouble),
    // A sweep with a wrong clock would delete rows too early.
    beforeRenewal: async () => void (await databaseClock.read(database.lookup)),
  });
}

/** A worker for payouts also serves the queue of each rail, each with its own slots. */
function buildWorkers(
  config: WorkerConfig,
  { client }: TemporalParts,
  activities: Activities,
  rails: Iterable<string>,
  logger: Logger,
  tracing: TemporalTracing | null,
): TemporalWorkers {
  const queues = config.WORKER_QUEUES.map((name): ServedQueue => ({
    queue: name,
    activities: activities[name],
    maxActivities: name === 'webhooks' ? ENDPOINTS_AT_ONCE : ACTIVITIES_AT_ONCE,
    hasWorkflows: true,
  }));
  const maxActivities = config.PAYOUT_RAIL_CALLS;
  const calls = { activities: activities.rails, maxActivities, hasWorkflows: false };
  if (config.WORKER_QUEUES.includes('payouts'))
    for (const rail of rails) queues.push({ ...calls, queue: railQueue(rail) });
  const options = {
    temporal: temporalOptions(config),
    version: config.TEMPORAL_WORKER_VERSION ?? null,
    queues,
    shutdownGraceMs: config.SHUTDOWN_GRACE_MS,
    auditEveryMs: config.AUDIT_PASS_EVERY_S * 1_000,
    tracing,
  };
  return new TemporalWorkers(options, client, logger);
}

const VALIDATED_OF_A_TENANT = 1;
const PAID_OF_A_TENANT = 4;

/**
 * Limits the long activities of batches, so that quick ones find free slots. More payments of one
 * tenant at a time would not be faster, because they share the writer's groups.
 */
function buildBatchLimits(slots: number): {
  readonly validating: ConcurrencyLimit;
  readonly paying: ConcurrencyLimit;
} {
  return {
    validating: new ConcurrencyLimit(VALIDATED_OF_A_TENANT, Math.ceil(slots / 2)),
    paying: new ConcurrencyLimit(PAID_OF_A_TENANT, Math.ceil((slots * 2) / 5)),
  };
}
