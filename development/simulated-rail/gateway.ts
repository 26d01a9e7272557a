import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Keyring } from '../../src/core/fingerprint.js';
import { parseUuid, type Uuid } from '../../src/core/ids.js';
import { type Clock, parseRfc3339 } from '../../src/core/instant.js';
import { PAYOUTS_PATH, RESOLVE_PATH, VOID } from '../../src/payouts/rails/http.js';
import {
  type RailCallback,
  railHeaders,
  type SignedMessage,
  verify,
} from '../../src/payouts/rails/wire.js';
import type { SimulatedRail } from '../../src/payouts/rails/simulated.js';
import { RailUnresponsive } from '../../src/payouts/rails/rail.js';
import {
  callbackText,
  holderText,
  pageText,
  readOrder,
  readResolve,
  reportText,
  unknownText,
} from './wire.js';

interface GatewayOptions {
  /** As in PAYOUT_RAILS, without `http:`. */
  readonly name: string;
  readonly port: number;
  /** The first signs what it sends. */
  readonly keys: Keyring;
  /** The service's address: callbacks go to `/rails/{name}/callbacks` there. */
  readonly serviceUrl: string;
  readonly onLine: (line: string) => void;
}

export interface RunningGateway {
  readonly port: number;
  stop(): Promise<void>;
}

const MAX_BODY_BYTES = 64 * 1024;
const CALLBACKS_EVERY_MS = 200;
const CALLBACK_TIMEOUT_MS = 5_000;
const AT_ONCE = 50;

/**
 * The simulated rail behind the protocol of docs/payout-rail.md: the reference for gateways, and
 * the test server for the HTTP rail.
 */
export async function serveGateway(
  rail: SimulatedRail,
  clock: Clock,
  options: GatewayOptions,
): Promise<RunningGateway> {
  const server = createServer((request, response) => {
    void answer(rail, clock, options, request, response);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, '127.0.0.1', resolve);
  });
  const stopping = new AbortController();
  const calling = callBack(rail, clock, options, stopping.signal);
  // A server that listens on a TCP port has this kind of address.
  const { port } = server.address() as AddressInfo;
  return {
    port,
    stop: async () => {
      stopping.abort();
      await Promise.all([closed(server), calling]);
    },
  };
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

async function answer(
  rail: SimulatedRail,
  clock: Clock,
  { keys, onLine }: GatewayOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    const body = await bodyOf(request);
    const method = request.method === 'POST' ? 'POST' : 'GET';
    const path = request.url ?? '';
    const verdict = verify(keys, request.headers, { method, path, body }, clock());
    const { status, text } =
      verdict === 'genuine'
        ? await answerOf(rail, method, path, body)
        : { status: 401, text: JSON.stringify({ error: verdict }) };
    onLine(`${method} ${path.slice(0, 60)} ${status}`);
    response.writeHead(status, { 'content-type': 'application/json' }).end(text);
  } catch (failure) {
    // A silent rail gives no answer: the connection just ends.
    onLine(
      failure instanceof RailUnresponsive
        ? 'no answer'
        : `failed: ${failure instanceof Error ? failure.name : 'unknown'}`,
    );
    response.destroy();
  }
}

async function answerOf(
  rail: SimulatedRail,
  method: SignedMessage['method'],
  path: string,
  body: Buffer,
): Promise<{ status: number; text: string }> {
  if (method === 'POST' && path === PAYOUTS_PATH) {
    const order = readOrder(body.toString('utf8'));
    if (order === null) return { status: 400, text: JSON.stringify({ error: 'malformed' }) };
    return { status: 200, text: reportText({ key: order.key, ...(await rail.submit(order)) }) };
  }
  if (method === 'POST' && path === RESOLVE_PATH) {
    const recipient = readResolve(body.toString('utf8'));
    if (recipient === null) return { status: 400, text: JSON.stringify({ error: 'malformed' }) };
    const found = await rail.resolve(recipient);
    return { status: found === null ? 404 : 200, text: holderText(recipient.key, found) };
  }
  if (method === 'GET' && path.startsWith(`${PAYOUTS_PATH}?`)) {
    const query = new URLSearchParams(path.slice(PAYOUTS_PATH.length + 1));
    const since = parseRfc3339(query.get('since') ?? '');
    if (since === null) return { status: 400, text: JSON.stringify({ error: 'malformed' }) };
    return {
      status: 200,
      text: pageText(await rail.list(since, parseUuid(query.get('after') ?? ''))),
    };
  }
  const key = keyOf(path, method === 'POST' ? VOID : '');
  if (key === null) return { status: 404, text: JSON.stringify({ error: 'no such path' }) };
  const said = await (method === 'POST' ? rail.void(key) : rail.status(key));
  return said === null
    ? { status: 404, text: unknownText(key) }
    : { status: 200, text: reportText({ key, ...said }) };
}

/** The key in `/payouts/{key}` followed by this. */
function keyOf(path: string, behind: string): Uuid | null {
  const isIts = path.startsWith(`${PAYOUTS_PATH}/`) && path.endsWith(behind);
  return isIts ? parseUuid(path.slice(PAYOUTS_PATH.length + 1, path.length - behind.length)) : null;
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) throw new RangeError('the body is too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Reports each outcome until the service has accepted it. */
async function callBack(
  rail: SimulatedRail,
  clock: Clock,
  options: GatewayOptions,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      for (const report of await rail.dueReports(AT_ONCE))
        if (await deliver(clock, options, report)) await rail.acknowledge(report);
    } catch (failure) {
      options.onLine(
        `callbacks failed: ${failure instanceof Error ? failure.message : String(failure)}`,
      );
    }
    await sleep(CALLBACKS_EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
}

async function deliver(
  clock: Clock,
  options: GatewayOptions,
  report: RailCallback,
): Promise<boolean> {
  const { name, keys, serviceUrl, onLine } = options;
  const path = `/rails/${name}/callbacks`;
  const body = Buffer.from(callbackText(report));
  try {
    const response = await fetch(serviceUrl.replace(/\/+$/, '') + path, {
      method: 'POST',
      body,
      signal: AbortSignal.timeout(CALLBACK_TIMEOUT_MS),
      headers: {
        'content-type': 'application/json',
        ...railHeaders(keys[0], { method: 'POST', path, body }, clock()),
      },
    });
    await response.arrayBuffer();
    onLine(`callback ${report.status} ${response.status}`);
    return response.ok;
  } catch {
    onLine(`callback ${report.status} not delivered`);
    return false;
  }
}
