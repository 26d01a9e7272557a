import { Authenticator, TokenUses } from '../access/authenticator.js';
import { accountRoutes, identityRoutes } from '../accounts/routes.js';
import { approvalPolicyRoutes } from '../approvals/routes.js';
import { batchRoutes } from '../batches/routes.js';
import { Batches } from '../batches/service.js';
import { bonusRoutes } from '../bonuses/routes.js';
import type { Config, ServiceConfig } from '../config/config.js';
import type { RateConfig } from '../config/rates.js';
import { metersOf } from '../core/meters.js';
import type { TokenHolder } from '../core/permissions.js';
import { eventRoutes } from '../events/routes.js';
import { Cursors } from '../http/cursor.js';
import { listen } from '../http/node-server.js';
import { RateLimiter, type RateLimits } from '../http/rate-limit.js';
import { Api } from '../http/route.js';
import { createService } from '../http/service.js';
import { RailCallbacks } from '../payouts/callbacks.js';
import { callbackMetrics, callMetrics, outcomeMetrics } from '../payouts/metrics.js';
import { accessRoutes } from '../members/routes.js';
import { limitRoute } from '../operations/routes.js';
import { httpRail } from '../payouts/rails/rail.js';
import { openRails } from '../payouts/rails/registry.js';
import type { RailCallObserver } from '../payouts/resolve.js';
import { payoutRoutes, railCallbackRoute } from '../payouts/routes.js';
import { readRequest, RequestLog, requestLogMetrics } from '../requests/log.js';
import { requestRoutes } from '../requests/routes.js';
import { statementRoutes } from '../statements/routes.js';
import { transferRoutes } from '../transfers/routes.js';
import { scheduleRoutes } from '../transfers/schedules/routes.js';
import { webhookRoutes, type Webhooks } from '../webhooks/routes.js';
import type { DeliverySender } from '../webhooks/sender.js';
import { buildBatchKinds } from './build-batch-kinds.js';
import { closeCore, type Core, openAdmin } from './build-core.js';
import { buildSender, buildWebhooks } from './build-webhooks.js';

/** Builds what receives callbacks, by HTTP or from the simulated rail in the worker. */
export function buildCallbacks(
  config: ServiceConfig,
  core: Core,
  observer = outcomeMetrics(core.registry),
): RailCallbacks {
  const keys = new Map(
    Array.from(config.PAYOUT_RAIL_KEYS, ([name, ring]) => [httpRail(name), ring]),
  );
  const onCallback = callbackMetrics(core.registry, core.clock, (rail, effect, count) =>
    core.logger.warn({ rail, effect, count }, 'rejected callbacks that are forged or late'),
  );
  return new RailCallbacks({ ...core, keys, onCallback, observer });
}

interface StartedApi {
  readonly port: number;
  readonly adminPort: number;
  readonly webhooks: Webhooks;
  /** Finishes accepted requests, and closes the core. */
  stop(): Promise<void>;
}

/** Starts the API. Requests are answered with 503 while MySQL is unavailable. */
export async function startApi(
  config: Config,
  core: Core,
  sending?: DeliverySender,
): Promise<StartedApi> {
  const { clock, database, registry, logger, errors } = core;
  const sender = buildSender(config);
  const webhooks = buildWebhooks(core, sending ?? sender);
  const authenticator = new Authenticator(database.current, clock);
  const uses = new TokenUses(database, clock);
  const requests = new RequestLog(database, requestLogMetrics(registry));
  const rateLimiter = await buildRates(config, core);
  const app = createService({
    api: buildApi(config, core, webhooks),
    inbound: [railCallbackRoute(buildCallbacks(config, core))],
    authenticate: (token, address) => {
      const recordUse = (holder: TokenHolder | null): TokenHolder | null => {
        if (holder !== null) uses.record(holder.tokenKeyId);
        return holder;
      };
      const answered = authenticator.authenticate(token, address);
      return answered instanceof Promise ? answered.then(recordUse) : recordUse(answered);
    },
    rateLimiter,
    fingerprintKeys: config.FINGERPRINT_KEYS,
    timeoutMs: config.COMMAND_TIMEOUT_MS,
    baseUrl: config.BASE_URL,
    docsUrl: config.DOCS_URL,
    trustedProxies: config.TRUSTED_PROXIES,
    errors,
    logger,
    registry,
    onAnswered: (answered) => requests.record(answered),
    isTraced: config.OTEL_EXPORTER_OTLP_ENDPOINT !== undefined,
  });
  const server = await listen(app.callback(), errors, { host: config.HOST, port: config.PORT });
  const admin = await openAdmin(config, core);
  const stop = async (): Promise<void> => {
    await admin.leaveLoadBalancer(config.STOP_DELAY_MS);
    await server.stop(config.SHUTDOWN_GRACE_MS);
    await requests.write();
    rateLimiter.close();
    await Promise.all([webhooks.tests.stop(), sender.close()]);
    await Promise.all([closeCore(core), admin.close()]);
  };
  return { port: server.port, adminPort: admin.port, webhooks, stop };
}

export function buildApi(config: Config, core: Core, webhooks: Webhooks): Api {
  const { clock, database } = core;
  const { BASE_URL: baseUrl } = config;
  const api = new Api();
  const cursors = new Cursors(config.CURSOR_KEYS);
  transferRoutes(api, core, cursors);
  scheduleRoutes(api, core, cursors);
  const rails = { routes: config.PAYOUT_RAILS, terms: config.PAYOUT_RAIL_TERMS };
  const { FINGERPRINT_KEYS: fingerprintKeys } = config;
  const resolving = { rails: openRails(core, config), observer: resolveObserver(core) };
  payoutRoutes(api, { ...core, rails, resolving, fingerprintKeys }, cursors);
  approvalPolicyRoutes(api, core);
  bonusRoutes(api, core, cursors);
  for (const kind of Object.values(buildBatchKinds(config, core)))
    batchRoutes(api, new Batches(core, kind), cursors, baseUrl);
  accountRoutes(api, core, cursors);
  accessRoutes(api, core, cursors);
  limitRoute(api, core);
  identityRoutes(api, core);
  statementRoutes(api, core, cursors, baseUrl);
  requestRoutes(api, (caller, id) => readRequest(database.readerFor(caller), caller, id, clock()));
  eventRoutes(api, database, cursors);
  webhookRoutes(api, webhooks, cursors);
  return api;
}

function resolveObserver({ registry, logger }: Core): RailCallObserver {
  return callMetrics(registry, (rail, reason) =>
    logger.warn({ rail, reason }, 'a rail did not respond'),
  );
}

/** Loads the Redis client, a fifth of the code loaded at the start, only if it is needed. */
async function buildRates(config: RateConfig, { registry, logger }: Core): Promise<RateLimits> {
  const { API_PROCESSES: processes, REDIS_URL: url, RATE_LIMITS: rates } = config;
  if (url === undefined) return new RateLimiter(rates, processes);
  const { SharedRateLimiter } = await import('../http/shared-rate-limit.js');
  const localDecisions = metersOf(registry).counter(
    'rate_limit_decided_alone_total',
    'Requests rate-limited by this process alone because Redis did not answer',
  );
  const changed = (isConnected: boolean): void =>
    isConnected
      ? logger.info('Redis responds: the processes share the rate limits')
      : logger.warn('Redis does not respond: this process grants its share of the rate limits');
  const observer = { changed, decidedLocally: () => localDecisions.inc() };
  return new SharedRateLimiter(url, rates, processes, observer);
}
