import { hostname } from 'node:os';
import {
  type Activities,
  type ActivityServices,
  createActivities,
} from '../../activities/index.js';
import { delaysSweep } from '../approvals/policies.js';
import { Approvals, expirySweep } from '../approvals/service.js';
import { auditMetrics } from '../auditor/audit.js';
import { BatchWorkflowService, rowMetrics } from '../batches/workflow-service.js';
import { filesSweep, lapseSweep, rowsSweep, uploadsSweep } from '../batches/sweeps.js';
import type { WorkerConfig } from '../config/config.js';
import { temporalOptions } from '../config/servers.js';
import { ConcurrencyLimit } from '../core/concurrency-limit.js';
import { describeFault } from '../http/logging.js';
import { payoutApproval } from '../payouts/decide.js';
import { stuckMetrics } from '../payouts/metrics.js';
import { reportSweeps } from '../payouts/rails/registry.js';
import { railEventsSweep } from '../payouts/sweeps.js';
import { requestsSweep } from '../requests/log.js';
import { restoreMetrics } from '../restores/begin-restore.js';
import { SheetReaders } from '../spreadsheets/worker-thread/sheet-readers.js';
import { expiredStatementsSweep, statementsSweep } from '../statements/statement-maker.js';
import { searchWordsSweep } from '../operations/search-words.js';
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
import { type Sweep, Sweeper } from '../temporal/sweeper.js';
import {
  sdkMetrics,
  type ServedQueue,
  type TemporalTracing,
  TemporalWorkers,
} from '../temporal/workers.js';
import { transferApproval } from '../transfers/approval-outcomes.js';
import { WebhookDispatcher } from '../webhooks/dispatcher.js';
import { lagMetrics, webhookMetrics } from '../webhooks/metrics.js';
import type { Sender } from '../webhooks/sender.js';
import { attemptsSweep, endpointsSweep, retentionSweep } from '../webhooks/sweeps.js';
import { buildCallbacks } from './build-api.js';
import { buildBatchKinds } from './build-batch-kinds.js';
import { buildSender, buildWebhookDeps } from './build-webhooks.js';
import { closeCore, type Core, openAdmin } from './build-core.js';
import { ledgerFitness } from './build-ledger.js';
import { buildWorkerRails } from './build-rails.js';
import { WORKFLOW_RESOURCES } from './workflow-resources.js';

/** Concurrent activities of each task queue except `webhooks`. */
const ACTIVITIES_AT_ONCE = 40;
/** Endpoints that receive deliveries at a time, and as many slow ones. Also activities of `webhooks`. */
const ENDPOINTS_AT_ONCE = 1_000;

export interface OpenWorker {
  readonly adminPort: number;
  readonly sweeper: Sweeper;
  readonly workers: TemporalWorkers;
  /** Finishes running work, and closes the core. */
  stop(): Promise<void>;
}

interface WorkerOptions {
  readonly sender?: Sender;
  readonly tracing?: TemporalTracing | null;
  /** Loopback port of the SDK's metrics. 0 if disabled. */
  readonly metricsPort?: number;
}

/** Starts a worker. Its Temporal workers start once Temporal is reachable, everything else at once. */
export async function openWorker(
  config: WorkerConfig,
  core: Core,
  { sender = buildSender(config), tracing = null, metricsPort = 0 }: WorkerOptions = {},
): Promise<OpenWorker> {
  const { clock, database, registry, logger } = core;
  const stopping = new AbortController();
  const sheets = new SheetReaders();
  const observer = webhookMetrics(registry, (fault, endpointId) =>
    logger.warn(
      { endpointId, fault: describeFault(fault) },
      'sending webhooks failed and will be retried',
    ),
  );
  const webhooks = buildWebhookDeps(core, sender, observer);
  const dispatcher = new WebhookDispatcher(webhooks, ENDPOINTS_AT_ONCE);
  const { services, sweeps, rails } = buildWorkerServices(config, core, sheets);
  const activities = createActivities({ ...services, stopping: stopping.signal });
  const workers = buildWorkers(config, core, activities, rails, tracing);
  const sweeper = buildSweeper(core, sweeps);
  outboxMetrics(registry, core.outbox, clock);
  stuckMetrics(registry, database.reader, clock);
  restoreMetrics(registry, database.reader);
  lagMetrics(registry, database.reader, clock);
  temporalMetrics(registry, core.client, workers);
  const admin = await openAdmin(config, core, {
    fitness: async () => (workers.isPolling ? ledgerFitness(core) : 'unfit'),
    moreMetrics: sdkMetrics(metricsPort),
  });
  sweeper.start();
  if (config.WORKER_QUEUES.includes('webhooks')) dispatcher.start();
  workers.start();
  const stop = async (): Promise<void> => {
    await admin.leaveLoadBalancer(0);
    stopping.abort();
    await Promise.all([sweeper.stop(), dispatcher.stop(), workers.stop()]);
    await Promise.all([sheets.close(), sender.close()]);
    await Promise.all([closeCore(core), admin.close()]);
  };
  return { adminPort: admin.port, sweeper, workers, stop };
}

interface WorkerServices {
  readonly services: Omit<ActivityServices, 'stopping'>;
  readonly sweeps: readonly Sweep[];
  readonly rails: ReadonlySet<string>;
}

/** `rollbackGuard` closes the ledger if the database was put back to an earlier moment. */
function buildAudit(config: WorkerConfig, { database, clock, registry, rollbackGuard }: Core) {
  const audit = { database, clock, everyMs: config.AUDIT_PASS_EVERY_S * 1_000 };
  return { audit, rollbackGuard, onAudited: auditMetrics(registry, database.reader, audit) };
}

function buildWorkerServices(
  config: WorkerConfig,
  core: Core,
  sheets: SheetReaders,
): WorkerServices {
  // Separate writers, so that rows of batches do not delay approvals and payouts.
  const payoutCore = { ...core, writer: core.writers.add('payouts') };
  const batches = new BatchWorkflowService({
    ...core,
    writer: core.writers.add('batches'),
    sheets,
    kinds: buildBatchKinds(config, core),
    baseUrl: config.BASE_URL,
    limits: buildBatchLimits(ACTIVITIES_AT_ONCE),
    onRows: rowMetrics(core.registry),
  });
  const rails = buildWorkerRails(config, payoutCore);
  const transferApprovals = new Approvals(transferApproval, core);
  const payoutApprovals = new Approvals(payoutApproval, core, rails.names);
  const callbacks = buildCallbacks(config, payoutCore, rails.observer);
  return {
    rails: rails.names,
    services: {
      staff: core,
      webhooks: core,
      client: core.client,
      transferApprovals,
      schedules: core,
      payoutApprovals,
      submitter: rails.submitter,
      batches,
      ...buildAudit(config, core),
    },
    sweeps: [
      expirySweep('transfers', transferApprovals),
      expirySweep('payouts', payoutApprovals),
      delaysSweep(core),
      ...rails.sweeps,
      ...reportSweeps(core, config.PAYOUT_RAILS, callbacks),
      outboxSweep(core.outbox, core.relay),
      endpointsSweep(core),
      attemptsSweep(core),
      retentionSweep(core),
      uploadsSweep(core, config.UPLOADS_KEPT_DAYS),
      filesSweep(batches),
      lapseSweep(core),
      rowsSweep(core, 'unpaid batches', config.PROBLEM_ROWS_KEPT_DAYS),
      rowsSweep(core, 'paid batches', config.BATCH_ROWS_KEPT_DAYS),
      requestsSweep(core),
      statementsSweep(core, 'short'),
      statementsSweep(core, 'long'),
      expiredStatementsSweep(core, config.STATEMENTS_KEPT_DAYS),
      railEventsSweep(core, config.RAIL_EVENTS_KEPT_DAYS),
      dailyTotalsSweep(core),
      searchWordsSweep(core),
      reconciliationSweep({
        ...core,
        resources: WORKFLOW_RESOURCES,
        lookAgainMs: config.WORKFLOW_LOOK_AGAIN_S * 1_000,
        onBehind: reconciliationMetrics(core.registry),
      }),
    ],
  };
}

function buildSweeper(core: Core, sweeps: readonly Sweep[]): Sweeper {
  const { database, databaseClock, registry, logger } = core;
  const onTrouble = (sweep: string, fault: unknown): void =>
    logger.warn({ sweep, fault: describeFault(fault) }, 'a round of the sweeper failed');
  return new Sweeper({
    database,
    sweeps,
    label: `${hostname()}:${process.pid}`,
    observer: sweeperMetrics(registry, onTrouble),
    // Corrects `clock`, because a sweep with a wrong clock would delete rows too early.
    beforeRenewal: async () => void (await databaseClock.read(database.lookup)),
  });
}

/** Builds Temporal workers. A worker for payouts also serves a queue for each rail. */
function buildWorkers(
  config: WorkerConfig,
  { client, logger }: Core,
  activities: Activities,
  rails: Iterable<string>,
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

const VALIDATIONS_PER_TENANT = 1;
const PAYMENTS_PER_TENANT = 4;

/**
 * Limits the long activities of batches, so that quick ones find free slots. More payments of one
 * tenant at a time would not be faster, because they share the writer's groups.
 */
function buildBatchLimits(slots: number): {
  readonly validating: ConcurrencyLimit;
  readonly paying: ConcurrencyLimit;
} {
  return {
    validating: new ConcurrencyLimit(VALIDATIONS_PER_TENANT, Math.ceil(slots / 2)),
    paying: new ConcurrencyLimit(PAYMENTS_PER_TENANT, Math.ceil((slots * 2) / 5)),
  };
}
