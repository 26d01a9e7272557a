import { z } from 'zod';
import {
  addressRanges,
  count,
  encryptionKeys,
  failpoint,
  mysqlDatabaseUrl,
  mysqlUrl,
  port,
  signingKeys,
  webUrl,
} from './config-values.js';

/** The only reader of the environment: every variable with its meaning, its default and its range. */

export const VARIABLES = {
  MYSQL_URL: mysqlDatabaseUrl.describe('the application user: mysql://user:password@host:port/database'),
  MYSQL_READ_CONNECTIONS: count(1, 500).default(10).describe('connections for reads, for each process'),
  MYSQL_TRANSACTION_CONNECTIONS: count(2, 500).default(8).describe('connections for transactions, for each process'),
  HOST: z.string().default('127.0.0.1').describe('address that the API listens on'),
  PORT: port.default(8080).describe('port of the API'),
  ADMIN_HOST: z.string().default('127.0.0.1').describe('address that the admin port listens on'),
  ADMIN_PORT: port.default(9090).describe('port of liveness, readiness and metrics; never open it to the world'),
  BASE_URL: webUrl.default('http://127.0.0.1:8080').describe('where tenants reach the API'),
  DOCS_URL: webUrl
    .default('http://127.0.0.1:8080/docs')
    .describe('where the docs pages are; doc_url of errors begins with it'),
  FINGERPRINT_KEYS: signingKeys.describe('secret: keys of the idempotency fingerprints, id:base64 with commas between'),
  CURSOR_KEYS: signingKeys.describe('secret: keys that sign page cursors, id:base64 with commas between'),
  ENCRYPTION_KEYS: encryptionKeys.describe(
    'secret: keys that seal document numbers at rest, id:base64 with commas between',
  ),
  LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'silent'])
    .default('info')
    .describe('least severe line that is logged'),
  TRUSTED_PROXIES: addressRanges.default([]).describe('address ranges whose X-Forwarded-For is believed'),
  API_PROCESSES: count(1, 1000).default(1).describe('how many API processes share the rate limits'),
  RATE_LIMIT_REQUESTS_PER_S: count(1, 1_000_000).default(100).describe('requests a second of one token'),
  RATE_LIMIT_BURST: count(1, 1_000_000).default(200).describe('requests at once of one token'),
  RATE_LIMIT_LOOKUP_PER_S: count(1, 1_000_000).default(5).describe('lookups a second of one token'),
  RATE_LIMIT_LOOKUP_BURST: count(1, 1_000_000).default(20).describe('lookups at once of one token'),
  RATE_LIMIT_UPLOADS_PER_MIN: count(1, 1_000_000)
    .default(10)
    .describe('file uploads a minute of one token, at once too'),
  COMMAND_TIMEOUT_MS: count(100, 60_000)
    .default(4_000)
    .describe('what a request may wait for the ledger, queueing included'),
  DESK_MAX_GROUP: count(1, 1_000).default(200).describe('most commands that share a ledger transaction'),
  DESK_GROUPS_IN_FLIGHT: count(1, 16).default(2).describe('ledger transactions at a time, for each process'),
  DESK_MAX_QUEUE: count(1, 100_000).default(5_000).describe('commands that may wait; beyond, 503 at once'),
  SHUTDOWN_GRACE_MS: count(0, 600_000)
    .default(20_000)
    .describe('how long a stopping process finishes what it accepted'),
  FAILPOINT: failpoint.optional().describe('fault tests only: where the process ends itself, name:N'),
} as const;

/** What `migrate` needs beside the application's user. */
export const MIGRATION_VARIABLES = {
  MYSQL_URL: VARIABLES.MYSQL_URL,
  MYSQL_ADMIN_URL: mysqlUrl.describe('secret: a user who may change the schema and grant rights'),
} as const;

/** What the operators' command line needs. */
export const OPS_VARIABLES = {
  MYSQL_URL: VARIABLES.MYSQL_URL,
  COMMAND_TIMEOUT_MS: VARIABLES.COMMAND_TIMEOUT_MS,
  DESK_MAX_GROUP: VARIABLES.DESK_MAX_GROUP,
  DESK_GROUPS_IN_FLIGHT: VARIABLES.DESK_GROUPS_IN_FLIGHT,
  DESK_MAX_QUEUE: VARIABLES.DESK_MAX_QUEUE,
  FAILPOINT: VARIABLES.FAILPOINT,
  ENCRYPTION_KEYS: VARIABLES.ENCRYPTION_KEYS.optional(),
  OPS_OPERATOR: z.string().optional().describe('who acts where --operator is not given; else the user of the machine'),
} as const;

const configSchema = z.object(VARIABLES);
const opsSchema = z.object(OPS_VARIABLES);
const migrationSchema = z.object(MIGRATION_VARIABLES);

export type Config = Readonly<z.infer<typeof configSchema>>;
export type Environment = Readonly<Record<string, string | undefined>>;

/** The configuration is not usable. The message lists every fault, a line each. */
export class ConfigError extends Error {
  override name = 'ConfigError';
}

/** Reads and checks the whole configuration. Throws ConfigError. */
export function readConfig(environment: Environment = process.env): Config {
  return read(configSchema, environment);
}

export type OpsConfig = Readonly<z.infer<typeof opsSchema>>;

export function readOpsConfig(environment: Environment = process.env): OpsConfig {
  return read(opsSchema, environment);
}

export function readMigrationConfig(environment: Environment = process.env): z.infer<typeof migrationSchema> {
  return read(migrationSchema, environment);
}

function read<S extends z.ZodObject>(schema: S, environment: Environment): z.infer<S> {
  // An empty variable is how a compose file says "not set".
  const set = Object.fromEntries(
    Object.entries(environment).filter(([, value]) => value !== undefined && value !== ''),
  );
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
