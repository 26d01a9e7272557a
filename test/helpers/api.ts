import assert from 'node:assert/strict';
import { AUTHORITY_REASONS } from '../../src/core/error-table.js';
import { FIELD_REASONS } from '../../src/core/field-reasons.js';
import type { Keyring } from '../../src/core/fingerprint.js';
import { randomUUID } from 'node:crypto';
import type { DestinationStream } from 'pino';
import { startApi } from '../../src/processes/build-api.js';
import { buildCore, type Core } from '../../src/processes/build-core.js';
import { readConfig } from '../../src/config/config.js';
import type { Clock } from '../../src/core/instant.js';
import type { DatabaseClock } from '../../src/ledger/database-clock.js';
import { createLogging } from '../../src/http/logging.js';
import { RATE_CLASSES } from '../../src/http/rate-limit.js';
import type { Webhooks } from '../../src/webhooks/routes.js';
import { stoppedAfterTests } from './after-tests.js';
import type { TestDatabase } from './database.js';
import { FakeReceiver } from './receiver.js';
import { asDatabaseClock } from './world.js';

/** The API of the service in this process, on a port of its own, over the test's database. */
export interface TestApi {
  readonly core: Core;
  readonly baseUrl: string;
  readonly adminUrl: string;
  readonly webhooks: Webhooks;
  request(method: string, path: string, options?: RequestOptions): Promise<TestAnswer>;
  stop(): Promise<void>;
}

export interface RequestOptions {
  readonly token?: string;
  /** Sent as it is when text, else as JSON. */
  readonly body?: unknown;
  /** In place of a body: a multipart form. */
  readonly form?: FormData;
  /** The Idempotency-Key; a new one for a POST unless something else is said, null for none. */
  readonly key?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface TestAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Buffer;
  readonly text: string;
  /** The JSON of the response; an empty object without a body. */
  readonly json: Record<string, unknown>;
  /** `error.code`, or undefined. */
  readonly code: string | undefined;
  readonly details: Record<string, unknown> | undefined;
}

/** Parts that a test may put in place of the process's own. */
interface TestApiDeps {
  readonly clock?: Clock | DatabaseClock;
  /** Gets every line that is logged; the level is `LOG_LEVEL` of the environment. */
  readonly log?: DestinationStream;
  /** The receiver behind every webhook endpoint; 'real': real HTTP, to the hosts that the environment allows. */
  readonly receiver?: FakeReceiver | 'real';
}

/** Where no fault is made, a busy machine shall not look like a ledger that is away. No real API may be as patient. */
export const PATIENT = { COMMAND_TIMEOUT_MS: '20000' };

const OWN_PORTS = { PORT: '0', ADMIN_PORT: '0', SHUTDOWN_GRACE_MS: '2000' };
const NOWHERE: DestinationStream = { write: () => undefined };
/** The keys with which test processes sign and seal. */
export const TEST_KEYRING: Keyring = [{ id: 'test', secret: Buffer.alloc(32, 7) }];
const KEYS = `test:${TEST_KEYRING[0].secret.toString('base64')}`;

/** Starts an API, which is stopped after the last test of the file at the latest. */
export async function startTestApi(
  { url }: Pick<TestDatabase, 'url'>,
  environment: Readonly<Record<string, string>> = {},
  { clock, log, receiver = new FakeReceiver() }: TestApiDeps = {},
): Promise<TestApi> {
  const { COMMAND_TIMEOUT_MS, ...others } = { ...PATIENT, ...environment };
  const config = {
    ...readConfig(testEnvironment(url, { ...OWN_PORTS, ...others })),
    COMMAND_TIMEOUT_MS: Number.parseInt(COMMAND_TIMEOUT_MS, 10),
  };
  // Silent, because each stream of the process's own would wait for its end.
  const destination = config.LOG_LEVEL === 'silent' ? NOWHERE : log;
  const { logger } = createLogging(config.LOG_LEVEL, 'api', destination);
  const core = buildCore(config, logger, { databaseClock: clock && asDatabaseClock(clock) });
  const opened = await startApi(config, core, receiver === 'real' ? undefined : receiver.sender);
  const baseUrl = `http://127.0.0.1:${opened.port}`;
  return {
    core,
    baseUrl,
    adminUrl: `http://127.0.0.1:${opened.adminPort}`,
    webhooks: opened.webhooks,
    request: (method, path, options) => request(baseUrl, method, path, options),
    stop: stoppedAfterTests(() => opened.stop()),
  };
}

/** The environment of an API process of a test: no rate limits, no log, and one set of keys for all processes. */
export function testEnvironment(
  mysqlUrl: string,
  others: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  return {
    MYSQL_URL: mysqlUrl,
    FINGERPRINT_KEYS: KEYS,
    CURSOR_KEYS: KEYS,
    ENCRYPTION_KEYS: KEYS,
    PAYOUT_RAILS: '*=simulated',
    LOG_LEVEL: 'silent',
    // No server listens there: a test with Temporal names its own.
    TEMPORAL_ADDRESS: '127.0.0.1:1',
    // Where a test's own receivers of webhooks are.
    WEBHOOK_ALLOWED_HOSTS: 'http://127.0.0.1:*',
    // And its gateways.
    PAYOUT_RAIL_ALLOWED_HOSTS: 'http://127.0.0.1:*',
    // An audit would report what tests damage on purpose. Tests of the audit set how often it runs.
    AUDIT_PASS_EVERY_S: '0',
    RATE_LIMITS: RATE_CLASSES.map((name) => `${name}=1000000`).join(','),
    ...others,
  };
}

/** One request to an API, in this process or another. */
export async function request(
  baseUrl: string,
  method: string,
  path: string,
  { token, body, form, key, headers = {} }: RequestOptions = {},
): Promise<TestAnswer> {
  const ownKey = key === undefined && method === 'POST' ? randomUUID() : key;
  const response = await fetch(baseUrl + path, {
    method,
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(ownKey === undefined || ownKey === null ? {} : { 'idempotency-key': ownKey }),
      ...headers,
    },
    ...(form === undefined ? {} : { body: form }),
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  const text = bytes.toString();
  const json = parseObject(text);
  const error = asObject(json.error);
  assertKnownReason(error);
  return {
    status: response.status,
    headers: response.headers,
    bytes,
    text,
    json,
    code: typeof error.code === 'string' ? error.code : undefined,
    details: error.details === undefined ? undefined : asObject(error.details),
  };
}

/** Clients are told a closed list of reasons; each answer that a test gets is held to it. */
function assertKnownReason({ code, details }: Record<string, unknown>): void {
  const { reason, field } = asObject(details);
  if (code === 'not_found') assert.equal(typeof field, 'string', 'a 404 without a field');
  if (code === 'authority_insufficient')
    assert(String(reason) in AUTHORITY_REASONS, `${String(reason)} is missing in error-table.ts`);
  const known = typeof reason !== 'string' || (reason.split(':')[0] ?? '') in FIELD_REASONS;
  assert(
    code !== 'invalid_field' || known,
    `${String(reason)} is missing in src/core/field-reasons.ts`,
  );
}

function parseObject(text: string): Record<string, unknown> {
  try {
    return asObject(JSON.parse(text));
  } catch {
    return {};
  }
}

function asObject(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
