import type { WorkerConfig } from './config.js';
import { type Activities, type ActivityServices, createActivities } from '../activities/index.js';
import { type Bridge, buildCallbacks, type Core, ledgerFitness, temporalOptions } from './app.js';
import { SheetReaders } from './batches/files/apart/sheet-readers.js';
import { policiesSweep } from './approvals/policy-delay.js';
import { filesSweep, lapseSweep, rowsSweep, uploadsSweep } from './batches/sweeps.js';
import { BatchService } from './batches/work.js';
import { Shares } from './core/shares.js';
import { createAdmin, Readiness } from './http/admin.js';
import { ErrorWriter } from './http/errors.js';
import { keyringMetrics } from './http/keyring-metrics.js';
import { describeFault, type Logger } from './http/logging.js';
import { listen, type RunningServer } from './http/node-server.js';
import { PayoutApprovals } from './payouts/approvals.js';
import { RailConversation } from './payouts/conversation.js';
import { LateInquiries } from './payouts/inquiries.js';
import { railMetrics, stuckMetrics } from './payouts/metrics.js';
import { openRails } from './payouts/rails/registry.js';
import { SIMULATED } from './payouts/rails/rules.js';
import { SimulatedRail } from './payouts/rails/simulated.js';
import type { Rails } from './payouts/rails/types.js';
import { USUAL_WINDOW_MS } from './payouts/rules.js';
import { Submissions } from './payouts/submission.js';
import { inquirySweeps, railEventsSweep, simulatedReports, stuckSweep } from './payouts/sweeps.js';
import { outboxMetrics, sweeperMetrics } from './temporal/metrics.js';
import { type Sweep, Sweeper } from './temporal/sweeper.js';
import { SignalTimes } from './temporal/signal-times.js';
import { outboxSweep, unattendedSweep } from './temporal/sweeps.js';
import { sdkMetrics, TemporalWorkers } from './temporal/workers.js';
import { requestsSweep } from './requests/sweeps.js';
import { expiredStatementsSweep, statementsSweep } from './statements/sweeps.js';
import { TransferApprovals } from './transfers/approvals.js';
import { WAITING_SOURCES } from './waiting-sources.js';
import type { WebhookParts } from './webhooks/parts.js';
import { attemptsSweep, retentionSweep, webhookSweep } from './webhooks/sweeps.js';

/** Builds the worker's parts once from the configuration, as app.ts does for the API. */

/** What runs in a worker process beside its admin port. */
export interface WorkerParts {
  readonly admin: RunningServer;
  readonly sweeper: Sweeper;
  readonly workers: TemporalWorkers;
  /** Begins nothing more; resolves when what ran has ended. */
  readonly stop: () => Promise<void>;
}

/** Opens the admin port and begins to work: the sweeper at once, the Temporal workers when Temporal is there. */
export async function openWorker(
  config: WorkerConfig,
  core: Core,
  bridge: Bridge,
  webhooks: WebhookParts,
  logger: Logger,
): Promise<WorkerParts> {
  const { clock, database, registry } = core;
  const stopping = new AbortController();
  const sheets = new SheetReaders();
  const { services, sweeps } = buildWork(config, core, bridge, webhooks, sheets, logger);
  const workers = buildWorkers(config, bridge, createActivities({ ...services, stopping: stopping.signal }), logger);
  const sweeper = new Sweeper(
    sweeps,
    sweeperMetrics(registry, (sweep, fault) =>
      logger.warn({ sweep, fault: describeFault(fault) }, 'a round of the sweeper failed'),
    ),
  );
  outboxMetrics(registry, bridge.outbox, clock);
  stuckMetrics(registry, database.reader, clock);
  keyringMetrics(registry, config);
  const readiness = new Readiness(async () => (workers.isPolling ? ledgerFitness(core) : 'unfit'));
  const errors = new ErrorWriter(config.DOCS_URL);
  const admin = createAdmin({ registry, readiness, errors, moreMetrics: sdkMetrics(config.SDK_METRICS_PORT) });
  const server = await listen(admin, errors, { host: config.ADMIN_HOST, port: config.ADMIN_PORT });
  core.guard.start();
  sweeper.start();
  workers.start();
  const stop = async (): Promise<void> => {
    readiness.stop();
    stopping.abort();
    core.guard.stop();
    await Promise.all([sweeper.stop(), workers.stop(), bridge.waker.stop(), bridge.nudge.stop()]);
    await sheets.close();
  };
  return { admin: server, sweeper, workers, stop };
}

/** What every feature has done for it: by activities, and by the sweeper. */
interface Work {
  readonly services: Omit<ActivityServices, 'stopping'>;
  readonly sweeps: readonly Sweep[];
}

function buildWork(
  config: WorkerConfig,
  core: Core,
  bridge: Bridge,
  webhooks: WebhookParts,
  sheets: SheetReaders,
  logger: Logger,
): Work {
  const { clock, database, desk, failpoints, recipientBudget } = core;
  const { client, outbox, relay, nudge, waker } = bridge;
  const shares = batchShares(config.WORKER_ACTIVITIES);
  const batches = new BatchService({
    database,
    recipientBudget,
    desk,
    clock,
    baseUrl: config.BASE_URL,
    nudge,
    sheets,
    failpoints,
    shares,
  });
  const transferApprovals = new TransferApprovals(desk, database.reader, clock, nudge);
  const payoutApprovals = new PayoutApprovals(desk, database.reader, clock, nudge);
  const { submissions, inquiries, rails, simulated } = buildRails(config, core, logger);
  const onFound = (resourceType: string, resources: number): void =>
    logger.warn({ resourceType, resources }, 'what waited had no workflow, and gets one');
  return {
    services: {
      staff: { database, clock, encryptionKeys: config.ENCRYPTION_KEYS },
      signalTimes: new SignalTimes(client),
      transferApprovals,
      payoutApprovals,
      submissions,
      batches,
      webhooks,
    },
    sweeps: [
      expirySweep('transfers', (limit) => transferApprovals.expireDue(limit)),
      expirySweep('payouts', (limit) => payoutApprovals.expireDue(limit)),
      policiesSweep(core),
      stuckSweep(submissions, config.PAYOUT_STUCK_AFTER_S * 1_000),
      ...inquirySweeps(inquiries, rails.keys()),
      simulatedReports(simulated, buildCallbacks(config, core, bridge, logger)),
      outboxSweep(outbox, relay),
      webhookSweep(core, waker),
      attemptsSweep(core),
      retentionSweep(core),
      uploadsSweep(core, config.UPLOADS_KEPT_DAYS),
      filesSweep(batches),
      lapseSweep(core, config.BATCHES_READY_DAYS),
      rowsSweep(core, 'rejected', config.PROBLEM_ROWS_KEPT_DAYS),
      rowsSweep(core, 'executed', config.BATCH_ROWS_KEPT_DAYS),
      requestsSweep(core),
      statementsSweep(core, 'short'),
      statementsSweep(core, 'long'),
      expiredStatementsSweep(core, config.STATEMENTS_KEPT_DAYS),
      railEventsSweep(core, config.RAIL_EVENTS_KEPT_DAYS),
      unattendedSweep({ database, outbox, client, sources: WAITING_SOURCES, clock, onFound }),
    ],
  };
}

function buildWorkers(
  config: WorkerConfig,
  { client }: Bridge,
  activities: Activities,
  logger: Logger,
): TemporalWorkers {
  const options = {
    temporal: temporalOptions(config),
    queues: config.WORKER_QUEUES.map((queue) => ({
      queue,
      activities: activities[queue],
      maxActivities: queue === 'webhooks' ? config.WORKER_DRAINS : config.WORKER_ACTIVITIES,
    })),
    maxWorkflowTasks: config.WORKER_WORKFLOW_TASKS,
    cachedWorkflows: config.WORKER_CACHED_WORKFLOWS,
    shutdownGraceMs: config.SHUTDOWN_GRACE_MS,
  };
  return new TemporalWorkers(options, client, logger);
}

/** The way to every rail that a payout may have, whatever new ones take. */
function buildRails(
  config: WorkerConfig,
  { database, desk, clock, failpoints, registry }: Core,
  logger: Logger,
): {
  readonly submissions: Submissions;
  readonly inquiries: LateInquiries;
  readonly rails: Rails;
  readonly simulated: SimulatedRail;
} {
  const simulated = new SimulatedRail(database, clock, SIMULATED);
  const { PAYOUT_RAIL_URLS: urls, PAYOUT_RAIL_KEYS: keys } = config;
  const rails = openRails(simulated, { urls, keys }, clock);
  const observer = railMetrics(registry, (rail, reason) => logger.warn({ rail, reason }, 'a rail gave no answer'));
  const conversation = new RailConversation({ database, desk, clock, rails, failpoints, observer });
  const { ENCRYPTION_KEYS: encryptionKeys, PAYOUT_RAIL_RETURN_WINDOW_S: windows } = config;
  const submissions = new Submissions({ conversation, encryptionKeys, monotonic: () => performance.now() });
  const inquiries = new LateInquiries(conversation, (rail) => windows.get(rail) ?? USUAL_WINDOW_MS);
  return { submissions, inquiries, rails, simulated };
}

const EXPIRY_EVERY_MS = 500;
const EXPIRED_AT_ONCE = 100;

/** What waited too long, ended through the desk, whether Temporal is there or not. */
function expirySweep(what: string, expireDue: (limit: number) => Promise<number>): Sweep {
  return {
    name: `expired ${what}`,
    everyMs: EXPIRY_EVERY_MS,
    run: async () => (await expireDue(EXPIRED_AT_ONCE)) === EXPIRED_AT_ONCE,
  };
}

const VALIDATED_OF_A_TENANT = 1;
const PAID_OF_A_TENANT = 4;

/**
 * Of the queue's slots half are for validations and two fifths for payments: the rest is left to what takes no time. More
 * than a few payments of a tenant at once would not be faster either, since they share the groups of the desk.
 */
function batchShares(slots: number): { readonly validating: Shares; readonly paying: Shares } {
  return {
    validating: new Shares(VALIDATED_OF_A_TENANT, Math.ceil(slots / 2)),
    paying: new Shares(PAID_OF_A_TENANT, Math.ceil((slots * 2) / 5)),
  };
}
