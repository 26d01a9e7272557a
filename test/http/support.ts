import { connect, type Socket } from 'node:net';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import type { Keyring } from '../../src/core/fingerprint.js';
import { asUuid } from '../../src/core/ids.js';
import { systemClock } from '../../src/core/instant.js';
import { SCOPES, type TokenHolder } from '../../src/core/permissions.js';
import { Api } from '../../src/http/route.js';
import type { Authenticate } from '../../src/http/headers.js';
import { ErrorWriter } from '../../src/http/errors.js';
import { listen, type RunningServer, type ServerTimeouts } from '../../src/http/node-server.js';
import {
  eachRateClass,
  type Rate,
  type RateClass,
  RateLimiter,
} from '../../src/http/rate-limit.js';
import type { BodyTimeouts } from '../../src/http/request-body.js';
import { createService } from '../../src/http/service.js';

export const KEYS: Keyring = [{ id: 'k1', secret: Buffer.alloc(32, 7) }];
export const TENANT = asUuid('018f0000-0000-7000-8000-000000000001');
export const OTHER_TENANT = asUuid('018f0000-0000-7000-8000-000000000002');
const MEMBER = asUuid('018f0000-0000-7000-8000-0000000000aa');
export const TOKEN = 'svc_live_key1_secret';
export const UUID_PATTERN = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

export function callerWith(changes: Partial<TokenHolder> = {}): TokenHolder {
  return { tenantId: TENANT, memberId: MEMBER, tokenKeyId: 'key1', scopes: SCOPES, ...changes };
}

interface WorldOptions {
  readonly routes: (api: Api) => void;
  readonly authenticate?: Authenticate;
  readonly rates?: Partial<Record<RateClass, Rate>>;
  readonly trustedProxies?: readonly string[];
  readonly timeouts?: ServerTimeouts;
  readonly bodyTimeouts?: BodyTimeouts;
  readonly docsUrl?: string;
  readonly siteFolder?: string;
  /** Gets every line that is logged. */
  readonly log?: (line: string) => void;
}

export interface World {
  readonly url: string;
  readonly port: number;
  readonly server: RunningServer;
  readonly registry: Registry;
}

const PLENTY: Rate = { perSecond: 1e6, burst: 1e6 };

/** The whole HTTP side on a port of its own, with routes and callers that the test chooses. */
export async function startWorld(options: WorldOptions): Promise<World> {
  const api = new Api();
  options.routes(api);
  const registry = new Registry();
  const docsUrl = options.docsUrl ?? 'http://localhost:8080/docs';
  const errors = new ErrorWriter(docsUrl);
  const { log } = options;
  const logger =
    log === undefined ? pino({ level: 'silent' }) : pino({ level: 'debug' }, { write: log });
  const rates = { ...eachRateClass(() => PLENTY), ...options.rates };
  const app = createService({
    api,
    authenticate:
      options.authenticate ?? ((token) => Promise.resolve(token === TOKEN ? callerWith() : null)),
    rateLimiter: new RateLimiter(rates, 1, systemClock),
    fingerprintKeys: KEYS,
    timeoutMs: 4_000,
    ...(options.bodyTimeouts === undefined ? {} : { bodyTimeouts: options.bodyTimeouts }),
    baseUrl: 'http://localhost:8080',
    docsUrl,
    ...(options.siteFolder === undefined ? {} : { siteFolder: options.siteFolder }),
    trustedProxies: options.trustedProxies ?? [],
    errors,
    logger,
    registry,
  });
  const server = await listen(
    app.callback(),
    errors,
    { host: '127.0.0.1', port: 0 },
    options.timeouts,
  );
  return { url: `http://127.0.0.1:${server.port}`, port: server.port, server, registry };
}

interface ErrorBody {
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly doc_url: string;
    readonly details?: {
      readonly field?: string;
      readonly reason?: string;
      readonly errors?: readonly {
        readonly code: string;
        readonly field: string;
        readonly reason: string;
      }[];
    };
  };
}

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  json<T = ErrorBody>(): T;
}

/** One request by fetch, with the token unless the headers say otherwise (null leaves one out). */
export async function call(
  url: string,
  init: { method?: string; headers?: Record<string, string | null>; body?: string | Buffer } = {},
): Promise<Answered> {
  const headers: Record<string, string> = {};
  const given: Record<string, string | null> = {
    authorization: `Bearer ${TOKEN}`,
    ...init.headers,
  };
  for (const [name, value] of Object.entries(given)) if (value !== null) headers[name] = value;
  const body = init.body === undefined ? {} : { body: init.body };
  const response = await fetch(url, { method: init.method ?? 'GET', headers, ...body });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    text,
    json: <T>() => JSON.parse(text) as T,
  };
}

export function postJson(
  url: string,
  body: unknown,
  headers: Record<string, string | null> = {},
): Promise<Answered> {
  const text = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
  return call(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: text,
  });
}

/** Sends bytes as they are and returns all that comes back until the connection ends, or for `ms` if it does not. */
export async function sendRaw(port: number, text: string | Buffer, ms = 15_000): Promise<string> {
  const socket = await opened(port);
  const received = readAll(socket, ms);
  socket.write(text);
  return received;
}

export function opened(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket));
    socket.once('error', reject);
  });
}

export function readAll(socket: Socket, ms = 15_000): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    const done = (): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(text);
    };
    const timer = setTimeout(done, ms);
    socket.on('data', (chunk: Buffer) => (text += chunk.toString('utf8')));
    socket.on('end', done).on('close', done).on('error', done);
  });
}

/**
 * The received text once it looks so: the connection may go on. All of it if the connection ends or ten seconds pass
 * before.
 */
export function readUntil(socket: Socket, end: RegExp): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    const done = (): void => {
      clearTimeout(timer);
      resolve(text);
    };
    const timer = setTimeout(done, 10_000);
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('utf8');
      if (end.test(text)) done();
    });
    socket.on('end', done).on('close', done).on('error', done);
  });
}

/** The head of a raw request with the token, each header on its own line. */
export function rawHead(line: string, ...headers: readonly string[]): string {
  return `${[line, 'Host: localhost', `Authorization: Bearer ${TOKEN}`, ...headers].join('\r\n')}\r\n\r\n`;
}

export function bodyOfRaw(response: string): ErrorBody {
  return JSON.parse(response.slice(response.indexOf('\r\n\r\n') + 4)) as ErrorBody;
}

/** Waits until it holds, at most `ms`. Throws what it is about otherwise. */
export async function eventually(what: string, holds: () => boolean, ms = 15_000): Promise<void> {
  for (const until = performance.now() + ms; !holds();) {
    if (performance.now() > until) throw new Error(`not in time: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
