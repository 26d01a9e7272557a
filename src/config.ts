import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { mysqlFaults, MYSQL_VARIABLES } from './config-mysql.js';
import { SIGN_IN_VARIABLES, signInFaults } from './config-sign-in.js';
import {
  addressRanges,
  allowedHosts,
  count,
  encryptionKeys,
  failpoint,
  hostAndPort,
  mysqlUrl,
  pem,
  port,
  railKeys,
  railRoutes,
  railSeconds,
  railUrls,
  signingKeys,
  TASK_QUEUE_NAMES,
  taskQueues,
  webUrl,
} from './config-values.js';
import { gatewayOf } from './payouts/rails/rules.js';
import { isAllowedHost } from './webhooks/address-guard/allowed-hosts.js';

/** The only reader of the environment: every variable with its meaning, its default and its range. */

/** What every process of the service has. */
const SERVICE_VARIABLES = {
  ...MYSQL_VARIABLES,
  MYSQL_READ_CONNECTIONS: count(1, 500).default(10).describe('connections for reads, for each process'),
  MYSQL_TRANSACTION_CONNECTIONS: count(2, 500).default(8).describe('connections for transactions, for each process'),
  ADMIN_HOST: z.string().default('127.0.0.1').describe('address that the admin port listens on'),
  ADMIN_PORT: port.default(9090).describe('port of liveness, readiness and metrics; never open it to the world'),
  LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'silent'])
    .default('info')
    .describe('least severe line that is logged'),
  COMMAND_TIMEOUT_MS: count(100, 60_000)
    .default(4_000)
    .describe('what a request may wait for the ledger, queueing included'),
  DESK_MAX_GROUP: count(1, 1_000).default(200).describe('most commands that share a ledger transaction'),
  DESK_GROUPS_IN_FLIGHT: count(1, 16).default(2).describe('ledger transactions at a time, for each process'),
  DESK_MAX_QUEUE: count(1, 100_000).default(5_000).describe('commands that may wait; beyond, 503 at once'),
  SHUTDOWN_GRACE_MS: count(0, 600_000)
    .default(20_000)
    .describe('how long a stopping process finishes what it accepted'),
  BASE_URL: webUrl.default('http://127.0.0.1:8080').describe('where tenants reach the API'),
  DOCS_URL: webUrl
    .default('http://127.0.0.1:8080/docs')
    .describe('where the docs pages are; doc_url of errors begins with it'),
  ENCRYPTION_KEYS: encryptionKeys.describe(
    'secret: keys that seal document and account numbers and webhook secrets at rest, id:base64 with commas between',
  ),
  WEBHOOK_ALLOWED_HOSTS: allowedHosts
    .default([])
    .describe(
      'hosts that may be webhook receivers over http or at private addresses, as http://localhost:*; for development',
    ),
  WEBHOOK_PROXY_URL: webUrl
    .optional()
    .describe('secret: HTTP proxy that deliveries go through; it must itself refuse private addresses'),
  WEBHOOK_TIMEOUT_MS: count(100, 60_000).default(10_000).describe('what one attempt of a delivery may take in all'),
  TEMPORAL_ADDRESS: hostAndPort.default('127.0.0.1:7233').describe('where Temporal is: host:port'),
  TEMPORAL_NAMESPACE: z.string().min(1).default('default').describe('the namespace of the workflows'),
  TEMPORAL_TLS: z.enum(['on', 'off']).default('off').describe('on: speak TLS with Temporal'),
  TEMPORAL_TLS_CERTIFICATE: pem.optional().describe('client certificate for mutual TLS, PEM'),
  TEMPORAL_TLS_KEY: pem.optional().describe('secret: key of the client certificate, PEM'),
  TEMPORAL_TLS_CA: pem.optional().describe('certificate authority of the server, PEM; else those of the system'),
  TEMPORAL_TLS_SERVER_NAME: z
    .string()
    .min(1)
    .optional()
    .describe("name in the server's certificate, where it is not the host of TEMPORAL_ADDRESS"),
  TEMPORAL_API_KEY: z.string().min(1).optional().describe('secret: API key of Temporal Cloud'),
  PAYOUT_RAILS: railRoutes
    .default([])
    .describe('which rail payouts take: acme/CO=http:bank-a,*=simulated; what no entry fits is refused'),
  PAYOUT_RAIL_URLS: railUrls.default(new Map()).describe('where gateways are: bank-a=https://gateway.example'),
  PAYOUT_RAIL_ALLOWED_HOSTS: allowedHosts
    .default([])
    .describe('hosts whose gateways may be asked over http, as http://127.0.0.1:*; for development'),
  PAYOUT_RAIL_KEYS: railKeys
    .default(new Map())
    .describe('secret: keys shared with gateways: bank-a=k1:base64; the first of each signs, all verify'),
  NEW_RECIPIENTS_OF_TOKEN: count(1, 1_000_000_000)
    .default(100_000)
    .describe(
      'people never named before that one token may look for by alias or phone at once: lookup, bonuses, batches',
    ),
  NEW_RECIPIENTS_OF_TENANT: count(1, 1_000_000_000)
    .default(200_000)
    .describe("the same of all of a tenant's tokens together"),
  NEW_RECIPIENTS_FULL_AFTER_DAYS: count(1, 365).default(10).describe('how long either takes to be full again'),
  FAILPOINT: failpoint.optional().describe('fault tests only: where the process ends itself, name:N'),
} as const;

/** What the API has beside it. */
export const VARIABLES = {
  ...SERVICE_VARIABLES,
  HOST: z.string().default('127.0.0.1').describe('address that the API listens on'),
  PORT: port.default(8080).describe('port of the API'),
  FINGERPRINT_KEYS: signingKeys.describe('secret: keys of the idempotency fingerprints, id:base64 with commas between'),
  CURSOR_KEYS: signingKeys.describe('secret: keys that sign and encrypt page cursors, id:base64 with commas between'),
  TRUSTED_PROXIES: addressRanges.default([]).describe('address ranges whose X-Forwarded-For is believed'),
  API_PROCESSES: count(1, 1000).default(1).describe('how many API processes share the rate limits'),
  RATE_LIMIT_REQUESTS_PER_S: count(1, 1_000_000).default(100).describe('requests a second of one token'),
  RATE_LIMIT_BURST: count(1, 1_000_000).default(200).describe('requests at once of one token'),
  RATE_LIMIT_LOOKUP_PER_S: count(1, 1_000_000).default(5).describe('lookups a second of one token'),
  RATE_LIMIT_LOOKUP_BURST: count(1, 1_000_000).default(20).describe('lookups at once of one token'),
  RATE_LIMIT_UPLOADS_PER_MIN: count(1, 1_000_000)
    .default(10)
    .describe('file uploads a minute of one token, at once too'),
  RATE_LIMIT_REDELIVER_PER_MIN: count(1, 1_000_000)
    .default(60)
    .describe('redeliveries and test deliveries a minute of one token, and at once'),
} as const;

/** What the worker has beside it. */
export const WORKER_VARIABLES = {
  ...SERVICE_VARIABLES,
  WORKER_QUEUES: taskQueues
    .default(TASK_QUEUE_NAMES)
    .describe('task queues that the worker serves, with commas between; all unless said'),
  WORKER_WORKFLOW_TASKS: count(2, 1_000).default(40).describe('workflow tasks at a time, for each queue'),
  WORKER_ACTIVITIES: count(1, 1_000).default(40).describe('activities at a time, for each queue'),
  UPLOADS_KEPT_DAYS: count(0, 3_650)
    .default(7)
    .describe('how long the bytes of validated files are kept; their hash stays'),
  BATCHES_READY_DAYS: count(1, 3_650)
    .default(30)
    .describe('how long a batch that is ready waits to be executed; then it lapses'),
  PROBLEM_ROWS_KEPT_DAYS: count(0, 36_500)
    .default(90)
    .describe('how long the problems of rejected batches are kept, and with them the errors file'),
  BATCH_ROWS_KEPT_DAYS: count(30, 36_500)
    .default(730)
    .describe('how long the rows of executed batches are kept, and with them the result file; bonuses stay'),
  STATEMENTS_KEPT_DAYS: count(1, 36_500)
    .default(30)
    .describe('how long the files of statements are kept; what they say of the balances stays'),
  RAIL_EVENTS_KEPT_DAYS: count(90, 36_500)
    .default(730)
    .describe('how long what rails said of a payout is kept after its end'),
  WORKER_DRAINS: count(1, 10_000)
    .default(1_000)
    .describe('webhook endpoints that are sent to at a time; they mostly wait'),
  WORKER_CACHED_WORKFLOWS: count(1, 100_000).default(1_000).describe('workflows kept in memory, for each queue'),
  PAYOUT_STUCK_AFTER_S: count(1, 2_592_000)
    .default(900)
    .describe('after how long without a word from its rail a payout is raised to operators'),
  PAYOUT_RAIL_RETURN_WINDOW_S: railSeconds(3_600, 31_536_000)
    .default(new Map())
    .describe('for how long completed payouts are asked about, by gateway: bank-a=2592000; 60 days unless said'),
  SDK_METRICS_PORT: port
    .default(9091)
    .describe("loopback port from which the admin port takes the Temporal SDK's metrics; 0: none"),
} as const;

/** What the support desk has beside it. */
export const SUPPORT_VARIABLES = {
  ...SERVICE_VARIABLES,
  SUPPORT_HOST: z.string().default('127.0.0.1').describe('address that the support desk listens on'),
  SUPPORT_PORT: port.default(8070).describe("port of the support desk; never the tenants'"),
  SUPPORT_URL: webUrl
    .default('http://127.0.0.1:8070')
    .describe('where support staff reach the desk; with https its cookies are for TLS alone'),
  SUPPORT_TEMPORAL_UI_URL: webUrl
    .optional()
    .describe('where support staff reach the Temporal UI; unset: no links to it'),
  ...SIGN_IN_VARIABLES,
  TRUSTED_PROXIES: VARIABLES.TRUSTED_PROXIES,
  PAYOUT_RAIL_QUIET_S: railSeconds(60, 31_536_000)
    .default(new Map())
    .describe(
      'how long after the last attempt a gateway that cannot void may still pay: bank-a=3600; 86400 unless said',
    ),
} as const;

/** What `migrate` needs beside the application's user. */
export const MIGRATION_VARIABLES = {
  ...MYSQL_VARIABLES,
  MYSQL_ADMIN_URL: mysqlUrl.describe('secret: a user who may change the schema and grant rights'),
} as const;

/** What the operators' command line needs. */
export const OPS_VARIABLES = {
  ...MYSQL_VARIABLES,
  COMMAND_TIMEOUT_MS: VARIABLES.COMMAND_TIMEOUT_MS,
  DESK_MAX_GROUP: VARIABLES.DESK_MAX_GROUP,
  DESK_GROUPS_IN_FLIGHT: VARIABLES.DESK_GROUPS_IN_FLIGHT,
  DESK_MAX_QUEUE: VARIABLES.DESK_MAX_QUEUE,
  FAILPOINT: VARIABLES.FAILPOINT,
  ENCRYPTION_KEYS: VARIABLES.ENCRYPTION_KEYS.optional(),
  PAYOUT_RAIL_URLS: VARIABLES.PAYOUT_RAIL_URLS,
  PAYOUT_RAIL_ALLOWED_HOSTS: VARIABLES.PAYOUT_RAIL_ALLOWED_HOSTS,
  PAYOUT_RAIL_KEYS: VARIABLES.PAYOUT_RAIL_KEYS,
  PAYOUT_RAIL_STATEMENT_DELAY_S: railSeconds(0, 2_592_000)
    .default(new Map())
    .describe('how long after an outcome a rail may date its line in a statement: bank-a=3600; an hour unless said'),
  PAYOUT_RAIL_QUIET_S: SUPPORT_VARIABLES.PAYOUT_RAIL_QUIET_S,
  OPS_KEY: z
    .string()
    .min(1)
    .optional()
    .describe('secret: key of the service as which automation acts; never of a person'),
  OPS_SESSIONS: z
    .string()
    .min(1)
    .optional()
    .describe('where the sessions of `ops login` are kept; else money-movement/sessions.json under XDG_CONFIG_HOME'),
  XDG_CONFIG_HOME: z.string().min(1).optional().describe('where a user keeps configuration; ~/.config unless said'),
  MYSQL_ADMIN_URL: mysqlUrl
    .optional()
    .describe('secret: for the first `ops staff add` alone, while nobody of the staff may manage'),
} as const;

/** What the conformance check of a gateway needs, which has no database. */
export const GATEWAY_VARIABLES = { PAYOUT_RAIL_KEYS: VARIABLES.PAYOUT_RAIL_KEYS } as const;

const configSchema = z.object(VARIABLES);
const workerSchema = z.object(WORKER_VARIABLES);
const supportSchema = z.object(SUPPORT_VARIABLES);
const opsSchema = z.object(OPS_VARIABLES);
const migrationSchema = z.object(MIGRATION_VARIABLES);

export type Config = Readonly<z.infer<typeof configSchema>>;
export type WorkerConfig = Readonly<z.infer<typeof workerSchema>>;
export type SupportConfig = Readonly<z.infer<typeof supportSchema>>;
/** What the processes have in common. */
export type ServiceConfig = Pick<Config, keyof typeof SERVICE_VARIABLES>;
export type Environment = Readonly<Record<string, string | undefined>>;

/** The configuration is not usable. The message lists every fault, a line each. */
export class ConfigError extends Error {
  override name = 'ConfigError';
}

/** Reads and checks the whole configuration. Throws ConfigError. */
export function readConfig(environment: Environment = process.env): Config {
  return withWholeRails(read(configSchema, environment));
}

/** The same of the worker. */
export function readWorkerConfig(environment: Environment = process.env): WorkerConfig {
  return withWholeRails(read(workerSchema, environment));
}

/** The same of the support desk. */
export function readSupportConfig(environment: Environment = process.env): SupportConfig {
  const config = withWholeRails(read(supportSchema, environment));
  refuseFor(signInFaults(config));
  return config;
}

export type OpsConfig = Readonly<z.infer<typeof opsSchema>>;

export function readOpsConfig(environment: Environment = process.env): OpsConfig {
  const config = read(opsSchema, environment);
  refuseFor([...unguardedRails(config), ...mysqlFaults(config)]);
  return config;
}

/** The keys shared with each gateway, by its name. Throws ConfigError. */
export function readGatewayKeys(environment: Environment = process.env): Config['PAYOUT_RAIL_KEYS'] {
  return read(z.object(GATEWAY_VARIABLES), environment).PAYOUT_RAIL_KEYS;
}

export function readMigrationConfig(environment: Environment = process.env): z.infer<typeof migrationSchema> {
  const config = read(migrationSchema, environment);
  refuseFor(mysqlFaults(config));
  return config;
}

/** Every gateway that a payout may take has an address and keys, and nobody on the way reads what it is told. */
function withWholeRails<C extends ServiceConfig>(config: C): C {
  const { PAYOUT_RAILS: routes, PAYOUT_RAIL_URLS: urls, PAYOUT_RAIL_KEYS: keys } = config;
  const named = routes.flatMap(({ rail }) => gatewayOf(rail) ?? []);
  const faults = [...new Set([...named, ...urls.keys()])].flatMap((name) => [
    ...(urls.has(name) ? [] : [`  PAYOUT_RAIL_URLS: ${name} has no address`]),
    ...(keys.has(name) ? [] : [`  PAYOUT_RAIL_KEYS: ${name} has no key`]),
  ]);
  refuseFor([...faults, ...unguardedRails(config), ...mysqlFaults(config)]);
  return config;
}

/** Orders hold account and document numbers. */
function unguardedRails({
  PAYOUT_RAIL_URLS: urls,
  PAYOUT_RAIL_ALLOWED_HOSTS: allowed,
}: Pick<Config, 'PAYOUT_RAIL_URLS' | 'PAYOUT_RAIL_ALLOWED_HOSTS'>): string[] {
  return Array.from(urls).flatMap(([name, address]) => {
    const url = new URL(address);
    if (url.protocol === 'https:' || isAllowedHost(allowed, url)) return [];
    return [`  PAYOUT_RAIL_URLS: ${name} must be https, or its host in PAYOUT_RAIL_ALLOWED_HOSTS`];
  });
}

function refuseFor(faults: readonly string[]): void {
  if (faults.length > 0)
    throw new ConfigError(`the configuration has ${faults.length} fault(s):\n${faults.join('\n')}`);
}

function read<S extends z.ZodObject>(schema: S, environment: Environment): z.infer<S> {
  const set = withFiles(Object.keys(schema.shape), environment);
  const result = schema.safeParse(set);
  if (result.success) return result.data;
  // The first fault of each variable: what follows mostly follows from it.
  const first = new Map(result.error.issues.toReversed().map((issue) => [String(issue.path[0]), issue]));
  const faults = Array.from(first, ([name, issue]) => {
    const problem = set[name] === undefined ? 'is not set' : issue.message;
    return `  ${name}: ${problem} (${schema.shape[name]?.description ?? ''})`;
  });
  throw new ConfigError(`the configuration has ${faults.length} fault(s):\n${faults.join('\n')}`);
}

/** What is set, each by NAME, or by NAME_FILE with the file that holds it, as secrets are mounted. */
function withFiles(names: readonly string[], environment: Environment): Record<string, string | (() => string)> {
  const set: Record<string, string | (() => string)> = {};
  for (const name of names) {
    const value = environment[name];
    const file = environment[`${name}_FILE`];
    // An empty variable is how a compose file says "not set".
    if (value !== undefined && value !== '') set[name] = value;
    else if (file !== undefined && file !== '')
      set[name] = RENEWED.test(name) ? () => readSecret(name, file) : readSecret(name, file);
  }
  return set;
}

/** What is renewed under a running process, where it is in a file. */
const RENEWED = /_TLS_(CA|CERTIFICATE|KEY)$/;

function readSecret(name: string, file: string): string {
  try {
    return readFileSync(file, 'utf8').trimEnd();
  } catch {
    throw new ConfigError(`the configuration has 1 fault(s):\n  ${name}_FILE: ${file} cannot be read`);
  }
}
