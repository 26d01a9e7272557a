import { z } from 'zod';
import {
  AUDIT_VARIABLES,
  MYSQL_VARIABLES,
  mysqlFaults,
  RAIL_VARIABLES,
  RAIL_WORK_VARIABLES,
  TEMPORAL_VARIABLES,
  TEMPORAL_WORKER_VERSION,
  type TemporalConfig,
  TRACING_VARIABLES,
} from './servers.js';
import {
  addressRanges,
  allowedHosts,
  count,
  encryptionKeys,
  type Environment,
  mysqlUrl,
  nonEmpty,
  port,
  railRoutes,
  railSeconds,
  readVariables,
  assertNoFaults,
  signingKeys,
  taskQueues,
  webUrl,
} from './values.js';
import { NEW_RECIPIENTS, RATE_VARIABLES } from './rates.js';
import { SIGN_IN_VARIABLES, signInFaults } from './sign-in.js';
import { TASK_QUEUES } from '../temporal/contracts.js';
import { gatewayOf, isOwnRail, type OwnRail } from '../payouts/rails/rail.js';
import { isAllowedHost } from '../webhooks/address-guard.js';

export { ConfigError, type Environment } from './values.js';

/** Only this folder reads the environment. */

/**
 * A revoked token must move nothing after 5 s. A cached token is up to 500 ms old, and a request's
 * COMMIT is sent up to 250 ms after its deadline.
 */
const MAX_REQUEST_MS = 4_000;

const SERVICE_VARIABLES = {
  ...MYSQL_VARIABLES,
  MYSQL_READ_CONNECTIONS: count(1, 500).default(10).describe('connections for reads, per process'),
  MYSQL_TRANSACTION_CONNECTIONS: count(2, 500)
    .default(16)
    .describe('connections for transactions, per process'),
  ADMIN_HOST: z.string().default('127.0.0.1').describe('address that the admin port listens on'),
  ADMIN_PORT: port
    .default(9090)
    .describe('port of liveness, readiness and metrics; never expose it publicly'),
  LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'silent'])
    .default('info')
    .describe('least severe level that is logged'),
  COMMAND_TIMEOUT_MS: count(100, 60_000)
    .default(MAX_REQUEST_MS)
    .describe(`how long a request may take, with the queue; in the API at most ${MAX_REQUEST_MS}`),
  SHUTDOWN_GRACE_MS: count(0, 600_000)
    .default(20_000)
    .describe('how long a stopping process may take to finish what it accepted'),
  BASE_URL: webUrl.default('http://127.0.0.1:8080').describe('where tenants reach the API'),
  DOCS_URL: webUrl
    .default('http://127.0.0.1:8080/docs')
    .describe('where the docs pages are; the doc_url of errors begins with it'),
  ENCRYPTION_KEYS: encryptionKeys.describe(
    'secret: keys that seal document and account numbers and webhook secrets at rest, comma-separated id:base64',
  ),
  WEBHOOK_ALLOWED_HOSTS: allowedHosts
    .default([])
    .describe(
      'hosts that may receive webhooks over http or at private addresses, such as http://localhost:*; for development',
    ),
  WEBHOOK_PROXY_URL: webUrl
    .optional()
    .describe('secret: HTTP proxy for deliveries; it must itself refuse private addresses'),
  ...TEMPORAL_VARIABLES,
  WORKFLOW_LOOK_AGAIN_S: count(1, 86_400)
    .default(3_600)
    .describe(
      'how long until a workflow checks its resource on its own; workers compare waiting resources with workflows slightly sooner',
    ),
  PAYOUT_RAILS: railRoutes
    .default([])
    .describe(
      'which rail payouts take, such as acme/CO=http:bank-a,*=simulated; payouts that match no entry are refused',
    ),
  ...RAIL_VARIABLES,
  NEW_RECIPIENTS,
} as const;

export const VARIABLES = {
  ...SERVICE_VARIABLES,
  ...TRACING_VARIABLES,
  HOST: z
    .string()
    .default('127.0.0.1')
    .describe('address that the API or the support desk listens on'),
  PORT: port
    .default(8080)
    .describe(
      'port of the API, or of the support desk, whose default is 8070 and which tenants must never reach',
    ),
  FINGERPRINT_KEYS: signingKeys.describe(
    'secret: keys of the idempotency fingerprints, comma-separated id:base64',
  ),
  CURSOR_KEYS: signingKeys.describe(
    'secret: keys that sign and encrypt page cursors, comma-separated id:base64',
  ),
  TRUSTED_PROXIES: addressRanges
    .default([])
    .describe('address ranges whose X-Forwarded-For is believed'),
  STOP_DELAY_MS: count(0, 600_000)
    .default(0)
    .describe(
      'how long a stopping process keeps serving, not ready on /readyz, so that the load balancer notices',
    ),
  ...RATE_VARIABLES,
} as const;

export const WORKER_VARIABLES = {
  ...SERVICE_VARIABLES,
  TEMPORAL_WORKER_VERSION,
  ...TRACING_VARIABLES,
  WORKER_QUEUES: taskQueues
    .default(TASK_QUEUES)
    .describe('comma-separated task queues that the worker serves; by default all'),
  UPLOADS_KEPT_DAYS: count(0, 3_650)
    .default(7)
    .describe('how long the bytes of validated files are kept; their hashes stay'),
  PROBLEM_ROWS_KEPT_DAYS: count(0, 36_500)
    .default(90)
    .describe('how long the rows, problems and errors file of batches without a payment are kept'),
  BATCH_ROWS_KEPT_DAYS: count(30, 36_500)
    .default(730)
    .describe('how long the rows and result file of batches with a payment are kept; bonuses stay'),
  STATEMENTS_KEPT_DAYS: count(1, 36_500)
    .default(30)
    .describe('how long the files of statements are kept; their figures stay'),
  RAIL_EVENTS_KEPT_DAYS: count(90, 36_500)
    .default(730)
    .describe("how long rails' messages about a payout are kept after its end"),
  ...RAIL_WORK_VARIABLES,
  ...AUDIT_VARIABLES,
} as const;

export const SUPPORT_VARIABLES = {
  ...SERVICE_VARIABLES,
  HOST: VARIABLES.HOST,
  PORT: port.default(8070).describe('port of the support desk, which tenants must never reach'),
  SUPPORT_URL: webUrl
    .default('http://127.0.0.1:8070')
    .describe('where support staff reach the desk; with https, its cookies are sent over TLS only'),
  SUPPORT_TEMPORAL_UI_URL: webUrl
    .optional()
    .describe('where support staff reach the Temporal UI; if unset, nothing links to it'),
  ...SIGN_IN_VARIABLES,
  TRUSTED_PROXIES: VARIABLES.TRUSTED_PROXIES,
  STOP_DELAY_MS: VARIABLES.STOP_DELAY_MS,
  PAYOUT_RAIL_QUIET_S: railSeconds(60, 31_536_000)
    .default(new Map())
    .describe(
      'seconds after the last attempt during which a gateway that cannot void may still pay, such as bank-a=3600; otherwise 86400',
    ),
} as const;

/** Variables of the migrations, which grant rights to the application's user in MYSQL_URL. */
export const MIGRATION_VARIABLES = {
  ...MYSQL_VARIABLES,
  MYSQL_ADMIN_URL: mysqlUrl.describe('secret: a user that may change the schema and grant rights'),
} as const;

export const OPS_VARIABLES = {
  ...MYSQL_VARIABLES,
  COMMAND_TIMEOUT_MS: VARIABLES.COMMAND_TIMEOUT_MS,
  ENCRYPTION_KEYS: VARIABLES.ENCRYPTION_KEYS.optional(),
  ...RAIL_VARIABLES,
  PAYOUT_RAIL_STATEMENT_DELAY_S: railSeconds(0, 2_592_000)
    .default(new Map())
    .describe(
      'seconds after an outcome within which a rail may date its statement line, such as bank-a=3600; otherwise an hour',
    ),
  PAYOUT_RAIL_QUIET_S: SUPPORT_VARIABLES.PAYOUT_RAIL_QUIET_S,
  SUPPORT_URL: SUPPORT_VARIABLES.SUPPORT_URL,
  SUPPORT_TEMPORAL_UI_URL: SUPPORT_VARIABLES.SUPPORT_TEMPORAL_UI_URL,
  TEMPORAL_NAMESPACE: TEMPORAL_VARIABLES.TEMPORAL_NAMESPACE,
  OPS_KEY: nonEmpty
    .optional()
    .describe("secret: key of the service account that automation acts as; never a person's"),
  OPS_SESSIONS: nonEmpty
    .optional()
    .describe(
      'where the sessions of `ops login` are kept; by default ~/.config/money-movement/sessions.json',
    ),
  MYSQL_ADMIN_URL: mysqlUrl
    .optional()
    .describe(
      'secret: only for the first `ops staff add`, while no member of the staff may manage',
    ),
} as const;

type ConfigOf<Variables extends z.ZodRawShape> = Readonly<z.infer<z.ZodObject<Variables>>>;

export type Config = ConfigOf<typeof VARIABLES>;
export type WorkerConfig = ConfigOf<typeof WORKER_VARIABLES>;
export type SupportConfig = ConfigOf<typeof SUPPORT_VARIABLES>;
export type ServiceConfig = Pick<Config, keyof typeof SERVICE_VARIABLES>;

/** Reads the configuration of the API. Throws `ConfigError`. */
export function readConfig(environment: Environment = process.env): Config {
  const config = assertRails(readVariables(z.object(VARIABLES), environment));
  if (config.COMMAND_TIMEOUT_MS > MAX_REQUEST_MS)
    assertNoFaults([
      `  COMMAND_TIMEOUT_MS: at most ${MAX_REQUEST_MS} in the API, so that a revoked token moves no money after 5 s`,
    ]);
  return config;
}

export function readWorkerConfig(environment: Environment = process.env): WorkerConfig {
  return assertRails(readVariables(z.object(WORKER_VARIABLES), environment));
}

export function readSupportConfig(environment: Environment = process.env): SupportConfig {
  const config = assertRails(readVariables(z.object(SUPPORT_VARIABLES), environment));
  assertNoFaults(signInFaults(config));
  return config;
}

export type OpsConfig = ConfigOf<typeof OPS_VARIABLES>;

export function readOpsConfig(environment: Environment = process.env): OpsConfig {
  const config = readVariables(z.object(OPS_VARIABLES), environment);
  assertNoFaults([...unencryptedRails(config), ...mysqlFaults(config)]);
  return config;
}

export function readGatewayKeys(): Config['PAYOUT_RAIL_KEYS'] {
  return readVariables(z.object({ PAYOUT_RAIL_KEYS: RAIL_VARIABLES.PAYOUT_RAIL_KEYS }), process.env)
    .PAYOUT_RAIL_KEYS;
}

export function readMigrationConfig(
  environment: Environment = process.env,
): ConfigOf<typeof MIGRATION_VARIABLES> {
  const config = readVariables(z.object(MIGRATION_VARIABLES), environment);
  assertNoFaults(mysqlFaults(config));
  return config;
}

/**
 * Reads the settings of Temporal, for replays of open workflows. `overrides` has priority.
 */
export function readTemporalConfig(overrides: Environment): TemporalConfig {
  return readVariables(z.object(TEMPORAL_VARIABLES), { ...process.env, ...overrides });
}

/** Faults in the settings of each rail without a gateway, if a route names it. */
const OWN_RAIL_FAULTS: Readonly<Record<OwnRail, (config: ServiceConfig) => readonly string[]>> = {
  simulated: () => [],
};

/**
 * Throws unless each rail that a payout may use has its settings: a gateway has keys, an address
 * and an encrypted connection.
 */
function assertRails<C extends ServiceConfig>(config: C): C {
  const { PAYOUT_RAILS: routes, PAYOUT_RAIL_URLS: urls, PAYOUT_RAIL_KEYS: keys } = config;
  const named = routes.flatMap(({ rail }) => gatewayOf(rail) ?? []);
  const faults = [...new Set([...named, ...urls.keys()])].flatMap((name) => [
    ...(urls.has(name) ? [] : [`  PAYOUT_RAIL_URLS: ${name} has no address`]),
    ...(keys.has(name) ? [] : [`  PAYOUT_RAIL_KEYS: ${name} has no key`]),
  ]);
  const own = routes.flatMap(({ rail }) => (isOwnRail(rail) ? OWN_RAIL_FAULTS[rail](config) : []));
  assertNoFaults([...faults, ...own, ...unencryptedRails(config), ...mysqlFaults(config)]);
  return config;
}

/** Returns a fault for each gateway without TLS, because orders contain personal data. */
function unencryptedRails({
  PAYOUT_RAIL_URLS: urls,
  PAYOUT_RAIL_ALLOWED_HOSTS: allowed,
}: Pick<Config, 'PAYOUT_RAIL_URLS' | 'PAYOUT_RAIL_ALLOWED_HOSTS'>): string[] {
  return Array.from(urls).flatMap(([name, address]) => {
    const url = new URL(address);
    if (url.protocol === 'https:' || isAllowedHost(allowed, url)) return [];
    return [`  PAYOUT_RAIL_URLS: ${name} must be https, or its host in PAYOUT_RAIL_ALLOWED_HOSTS`];
  });
}
