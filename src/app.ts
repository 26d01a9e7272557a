import type { Registry } from 'prom-client';
import type { Config } from './config.js';
import { Failpoints } from './core/failpoints.js';
import { type Clock, systemClock } from './core/instant.js';
import { Authenticator } from './access/authenticator.js';
import { NO_APPROVALS } from './accounts/approval-threshold.js';
import { identityRoutes } from './accounts/routes-identity.js';
import { accountRoutes } from './accounts/routes.js';
import { Accounts } from './accounts/service.js';
import { batchRoutes } from './batches/routes.js';
import { Batches } from './batches/service.js';
import { bonusRoutes } from './bonuses/routes.js';
import { Bonuses } from './bonuses/service.js';
import { Database } from './db/database.js';
import { eventRoutes } from './events/routes.js';
import { EventLog } from './events/service.js';
import { createAdmin, createRegistry } from './http/admin.js';
import { Api } from './http/api.js';
import { Cursors } from './http/cursor.js';
import { ErrorWriter } from './http/errors.js';
import { describeFault, type Logger } from './http/logging.js';
import { listen, type RunningServer } from './http/node-server.js';
import { RateLimiter } from './http/rate-limit.js';
import { createService } from './http/service.js';
import { PostingDesk } from './ledger/desk/desk.js';
import { deskMetrics } from './ledger/desk/metrics.js';
import { transferRoutes } from './transfers/routes.js';
import { Transfers } from './transfers/service.js';

/** The ledger and what it stands on: what every process of the service has. */
export interface Core {
  readonly clock: Clock;
  readonly database: Database;
  readonly desk: PostingDesk;
  readonly registry: Registry;
}

/** Builds the parts once from the configuration. Nothing connects before it is used. */
export function buildCore(config: Config, logger: Logger, clock: Clock = systemClock): Core {
  const registry = createRegistry();
  const database = new Database({
    url: config.MYSQL_URL,
    readConnections: config.MYSQL_READ_CONNECTIONS,
    transactionConnections: config.MYSQL_TRANSACTION_CONNECTIONS,
    statementTimeoutMs: config.COMMAND_TIMEOUT_MS,
  });
  const desk = new PostingDesk(
    {
      database,
      clock,
      failpoints: new Failpoints(config.FAILPOINT ?? null),
      onFault: (kind, fault) => logger.error({ kind, fault: describeFault(fault) }, 'a command failed by our fault'),
    },
    {
      maxGroup: config.DESK_MAX_GROUP,
      groupsInFlight: config.DESK_GROUPS_IN_FLIGHT,
      maxQueue: config.DESK_MAX_QUEUE,
      commandTimeoutMs: config.COMMAND_TIMEOUT_MS,
    },
    deskMetrics(registry),
  );
  return { clock, database, desk, registry };
}

/** The two servers of an API process. */
export interface ApiServers {
  readonly api: RunningServer;
  readonly admin: RunningServer;
}

/** Opens the API and admin ports. From then on requests are answered, with 503 while MySQL is away. */
export async function openApiServers(config: Config, core: Core, logger: Logger): Promise<ApiServers> {
  const { clock, database, registry } = core;
  const errors = new ErrorWriter(config.DOCS_URL);
  const authenticator = new Authenticator(database.lookup, clock);
  const service = createService({
    api: buildApi(config, core),
    authenticate: (token, address) => authenticator.authenticate(token, address),
    rateLimiter: new RateLimiter(
      {
        requests: { perSecond: config.RATE_LIMIT_REQUESTS_PER_S, burst: config.RATE_LIMIT_BURST },
        lookup: { perSecond: config.RATE_LIMIT_LOOKUP_PER_S, burst: config.RATE_LIMIT_LOOKUP_BURST },
      },
      config.API_PROCESSES,
    ),
    fingerprintKeys: config.FINGERPRINT_KEYS,
    ledgerTimeoutMs: config.COMMAND_TIMEOUT_MS,
    baseUrl: config.BASE_URL,
    docsUrl: config.DOCS_URL,
    trustedProxies: config.TRUSTED_PROXIES,
    errors,
    logger,
    registry,
  });
  const isReady = async (): Promise<boolean> => (await database.reader.query('SELECT 1')).length === 1;
  const admin = createAdmin({ registry, isReady, errors });
  return {
    api: await listen(service.callback(), errors, { host: config.HOST, port: config.PORT }),
    admin: await listen(admin, errors, { host: config.ADMIN_HOST, port: config.ADMIN_PORT }),
  };
}

/** The routes of every feature. */
function buildApi(config: Config, { clock, database, desk }: Core): Api {
  const api = new Api();
  const cursors = new Cursors(config.CURSOR_KEYS);
  transferRoutes(api, new Transfers(desk, database.reader), cursors);
  const approvals = NO_APPROVALS;
  bonusRoutes(api, new Bonuses(desk, database.reader, approvals), cursors);
  const batches = new Batches({ database, desk, clock, approvals, timeoutMs: config.COMMAND_TIMEOUT_MS });
  batchRoutes(api, batches, cursors, config.BASE_URL);
  const accounts = new Accounts(database, clock, config.ENCRYPTION_KEYS);
  accountRoutes(api, accounts, cursors);
  identityRoutes(api, accounts);
  eventRoutes(api, new EventLog(database.reader), cursors);
  return api;
}
