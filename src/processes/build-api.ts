import type { Registry } from 'prom-client';
import { Authenticator, TokenUses } from '../access/authenticator.js';
import { RecipientBudget, RECIPIENTS_FULL_AFTER_MS } from '../accounts/recipient-budget.js';
import { accountRoutes, identityRoutes } from '../accounts/routes.js';
import { approvalPolicyRoutes } from '../approvals/routes.js';
import { Approvals } from '../approvals/service.js';
import { batchRoutes } from '../batches/routes.js';
import { Batches } from '../batches/service.js';
import { bonusRoutes } from '../bonuses/routes.js';
import { Bonuses } from '../bonuses/service.js';
import type { Config, ServiceConfig } from '../config/config.js';
import type { Caller } from '../core/permissions.js';
import { poolMetrics, statementMetrics } from '../db/metrics.js';
import { eventRoutes } from '../events/routes.js';
import { createAdmin, createRegistry, Readiness } from '../http/admin.js';
import { Api } from '../http/route.js';
import { Cursors } from '../http/cursor.js';
import type { DocsSite } from '../http/docs/site.js';
import { ErrorWriter } from '../http/errors.js';
import { describeFault, type Logger } from '../http/logging.js';
import { buildInfo, keyringMetrics } from '../http/metrics.js';
import { listen, type RunningServer } from '../http/node-server.js';
import { createService } from '../http/service.js';
import { DatabaseClock } from '../ledger/database-clock.js';
import { aheadMetrics, writerMetrics } from '../ledger/writer/metrics.js';
import { payoutApproval } from '../payouts/decide.js';
import { RailCallbacks } from '../payouts/callbacks.js';
import { callbackMetrics, outcomeMetrics } from '../payouts/metrics.js';
import { httpRail } from '../payouts/rails/rail.js';
import { payoutApprovalRoutes, payoutRoutes, railCallbackRoute } from '../payouts/routes.js';
import { Payouts } from '../payouts/service.js';
import { readRequest, RequestLog, requestLogMetrics } from '../requests/log.js';
import { requestRoutes } from '../requests/routes.js';
import { statementRoutes } from '../statements/routes.js';
import { transferApproval } from '../transfers/approval-outcomes.js';
import { transferApprovalRoutes, transferRoutes } from '../transfers/routes.js';
import { Transfers } from '../transfers/service.js';
import { AddressGuard } from '../webhooks/address-guard.js';
import { DeliveryStore } from '../webhooks/delivery-store.js';
import { UNOBSERVED, type WebhookDeps, type WebhookObserver } from '../webhooks/deps.js';
import { webhookRoutes, type Webhooks } from '../webhooks/routes.js';
import { ATTEMPT_TIMEOUT_MS, Sender, type Sending } from '../webhooks/sender.js';
import { buildLedger, type Ledger, ledgerFitness, prepareLedger } from './build-ledger.js';
import type { TemporalParts } from './build-temporal.js';
import type { RateConfig } from '../config/rates.js';
import { metersOf } from '../core/meters.js';
import { RateLimiter, type RateLimits } from '../http/rate-limit.js';

export interface Core extends Ledger {
  readonly registry: Registry;
  readonly recipientBudget: RecipientBudget;
}

/** Connects on first use. */
export function buildCore(
  config: ServiceConfig,
  logger: Logger,
  databaseClock = new DatabaseClock(),
): Core {
  const registry = createRegistry();
  buildInfo(registry);
  const ledger = buildLedger(config, {
    databaseClock,
    onAccountAhead: aheadMetrics(registry, (accountId, aheadMs) =>
      logger.error(
        { accountId, aheadMs },
        "an account is dated ahead of the database's clock: nothing is posted to it",
      ),
    ),
    observerOf: writerMetrics(registry),
    statementObserver: statementMetrics(registry),
    primaryObserver: {
      found: (server) => logger.info({ server }, 'using this MySQL server, which accepts writes'),
      lost: (server, reason) =>
        logger.warn({ server, fault: describeFault(reason) }, 'searching for the MySQL primary'),
      refused: (servers) =>
        logger.error({ servers }, 'several MySQL servers accept writes: none is used'),
    },
    onRolledBack: () =>
      logger.error(
        'rows that existed are missing: the ledger is closed until a restore is finished (restore status)',
      ),
    onFault: (kind, fault) =>
      logger.error(
        { kind, fault: describeFault(fault) },
        'a command failed because of an internal error',
      ),
  });
  poolMetrics(registry, ledger.database);
  const recipientBudget = new RecipientBudget(ledger.database, ledger.clock, {
    ...config.NEW_RECIPIENTS,
    fullAfterMs: RECIPIENTS_FULL_AFTER_MS,
  });
  return { ...ledger, registry, recipientBudget };
}

export function buildWebhookParts(
  config: ServiceConfig,
  { clock, database, failpoints }: Core,
  sending: Sending,
  { notifier }: Pick<TemporalParts, 'notifier'>,
  observer: WebhookObserver = UNOBSERVED,
): WebhookDeps {
  const store = new DeliveryStore({ database, clock, notifier });
  return {
    database,
    store,
    clock,
    encryptionKeys: config.ENCRYPTION_KEYS,
    sending,
    failpoints,
    notifier,
    observer,
  };
}

export function buildConfiguredSending(
  config: ServiceConfig,
  timeoutMs: number = ATTEMPT_TIMEOUT_MS,
): Sender {
  const { WEBHOOK_ALLOWED_HOSTS: allowedHosts, WEBHOOK_PROXY_URL: proxy } = config;
  const proxyUrl = proxy === undefined ? null : new URL(proxy);
  const guard = new AddressGuard({ allowedHosts, namesAreLeftToProxy: proxyUrl !== null });
  return new Sender({ guard, timeoutMs, proxyUrl });
}

/** Callbacks arrive by HTTP, or from the simulated rail in the worker. */
export function buildCallbacks(
  config: ServiceConfig,
  { database, writer, clock, registry }: Core,
  { notifier }: TemporalParts,
  logger: Logger,
  observer = outcomeMetrics(registry),
): RailCallbacks {
  const keys = new Map(
    Array.from(config.PAYOUT_RAIL_KEYS, ([name, ring]) => [httpRail(name), ring]),
  );
  const onCallback = callbackMetrics(registry, clock, (rail, effect, count) =>
    logger.warn({ rail, effect, count }, 'rejected callbacks that are forged or late'),
  );
  return new RailCallbacks({ database, writer, clock, notifier, keys, onCallback, observer });
}

interface ApiServers {
  readonly requests: RequestLog;
  readonly rates: BuiltRates;
  readonly readiness: Readiness;
  readonly docs: DocsSite;
  readonly api: RunningServer;
  readonly admin: RunningServer;
}

/** Requests are answered from then on, with 503 while MySQL is unavailable. */
export async function openApiServers(
  config: Config,
  core: Core,
  temporal: TemporalParts,
  webhooks: Webhooks,
  logger: Logger,
): Promise<ApiServers> {
  const { clock, database, registry } = core;
  const errors = new ErrorWriter(config.DOCS_URL);
  keyringMetrics(registry, config);
  const authenticator = new Authenticator(database.current, clock);
  const uses = new TokenUses(database, clock);
  const requests = new RequestLog(database, requestLogMetrics(registry));
  const rates = await buildRates(config, registry, logger);
  const { app, docs } = createService({
    api: buildApi(config, core, temporal, webhooks),
    inbound: [railCallbackRoute(buildCallbacks(config, core, temporal, logger))],
    authenticate: (token, address) => {
      const noted = (caller: Caller | null): Caller | null => {
        if (caller !== null) uses.note(caller.tokenKeyId);
        return caller;
      };
      const answered = authenticator.authenticate(token, address);
      return answered instanceof Promise ? answered.then(noted) : noted(answered);
    },
    rateLimiter: rates.limits,
    fingerprintKeys: config.FINGERPRINT_KEYS,
    ledgerTimeoutMs: config.COMMAND_TIMEOUT_MS,
    baseUrl: config.BASE_URL,
    docsUrl: config.DOCS_URL,
    trustedProxies: config.TRUSTED_PROXIES,
    errors,
    logger,
    registry,
    onAnswered: (answered) => requests.note(answered),
    isTraced: config.OTEL_EXPORTER_OTLP_ENDPOINT !== undefined,
  });
  void prepareLedger(core);
  core.rollbacks.start(() => temporal.client.auditCheckpoint());
  const readiness = new Readiness(() => ledgerFitness(core));
  const admin = createAdmin({ registry, readiness, errors });
  return {
    requests,
    readiness,
    rates,
    docs,
    api: await listen(app.callback(), errors, { host: config.HOST, port: config.PORT }),
    admin: await listen(admin, errors, { host: config.ADMIN_HOST, port: config.ADMIN_PORT }),
  };
}

export function buildApi(
  config: Config,
  core: Core,
  { notifier }: TemporalParts,
  webhooks: Webhooks,
): Api {
  const { clock, databaseClock, database, writer, recipientBudget } = core;
  const api = new Api();
  const cursors = new Cursors(config.CURSOR_KEYS);
  transferRoutes(api, new Transfers(writer, notifier), database.reader, cursors);
  transferApprovalRoutes(
    api,
    new Approvals(transferApproval, writer, database.reader, clock, notifier),
  );
  const deps = { writer, reader: database.reader, notifier };
  const { ENCRYPTION_KEYS: encryptionKeys, PAYOUT_RAILS: routes } = config;
  payoutRoutes(api, new Payouts({ ...deps, encryptionKeys, routes }), database.reader, cursors);
  payoutApprovalRoutes(
    api,
    new Approvals(payoutApproval, writer, database.reader, clock, notifier),
  );
  approvalPolicyRoutes(api, core);
  bonusRoutes(api, new Bonuses(writer, database.reader, recipientBudget), database.reader, cursors);
  const batches = new Batches({
    database,
    writer,
    clock,
    notifier,
    timeoutMs: config.COMMAND_TIMEOUT_MS,
  });
  batchRoutes(api, batches, cursors, config.BASE_URL);
  accountRoutes(api, core, cursors);
  identityRoutes(api, { database, clock, budget: recipientBudget, encryptionKeys });
  const statements = { database, clock, databaseClock, timeoutMs: config.COMMAND_TIMEOUT_MS };
  statementRoutes(api, statements, cursors, config.BASE_URL);
  requestRoutes(api, (caller, id) => readRequest(database.reader, caller, id, clock()));
  eventRoutes(api, database, cursors);
  webhookRoutes(api, webhooks, cursors);
  return api;
}

interface BuiltRates {
  readonly limits: RateLimits;
  close(): void;
}

/** The client of Redis, a fifth of the code loaded at the start, is loaded only if needed. */
async function buildRates(
  config: RateConfig,
  registry: Registry,
  logger: Logger,
): Promise<BuiltRates> {
  const { API_PROCESSES: processes, REDIS_URL: url, RATE_LIMITS: rates } = config;
  if (url === undefined)
    return { limits: new RateLimiter(rates, processes), close: () => undefined };
  const { RedisBuckets, SharedRateLimiter } = await import('../http/shared-rate-limit.js');
  const store = new RedisBuckets(url);
  const localDecisions = metersOf(registry).counter(
    'rate_limit_decided_alone_total',
    'Requests rate-limited by this process alone because Redis did not answer',
  );
  const changed = (isThere: boolean): void =>
    isThere
      ? logger.info('Redis answers: the processes share the rate limits')
      : logger.warn('Redis gives no answers: this process grants its share of the rate limits');
  const observer = { changed, decidedLocally: () => localDecisions.inc() };
  return {
    limits: new SharedRateLimiter(rates, processes, store, observer),
    close: () => store.close(),
  };
}
