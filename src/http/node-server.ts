import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { invalidField, NOT_FOUND, type Refusal } from '../core/errors.js';
import { reasonInWords } from '../core/field-reasons.js';
import { newId } from '../core/ids.js';
import type { ErrorWriter } from './errors.js';
import { afterReading, BODY_TIMEOUTS } from './request-body.js';

export interface ServerTimeouts {
  readonly headersMs: number;
  readonly requestMs: number;
  /** Longer than load balancers keep idle connections. */
  readonly keepAliveMs: number;
  /** How long a client may read or send nothing. */
  readonly stalledMs: number;
}

// Bodies have shorter limits of their own. `stalledMs` is the longest, so it ends none early.
const TIMEOUTS: ServerTimeouts = {
  headersMs: 10_000,
  requestMs: BODY_TIMEOUTS.uploadMs + 10_000,
  keepAliveMs: 65_000,
  stalledMs: BODY_TIMEOUTS.uploadMs + 30_000,
};
const IDLE_CHECK_MS = 50;
const LINGER_MS = 1_000;

/** Answers a request; never throws or rejects. */
export type Listener = (request: IncomingMessage, response: ServerResponse) => Promise<void> | void;

export interface RunningServer {
  readonly port: number;
  inFlight(): number;
  /** Answers accepted requests, and closes all connections after `graceMs`. */
  stop(graceMs: number): Promise<void>;
}

/** Starts a server. Requests that Node itself refuses get an Error object and a request id too. */
export async function listen(
  listener: Listener,
  errors: ErrorWriter,
  at: { readonly host: string; readonly port: number },
  timeouts: ServerTimeouts = TIMEOUTS,
): Promise<RunningServer> {
  const server = createServer({
    headersTimeout: timeouts.headersMs,
    requestTimeout: timeouts.requestMs,
    keepAliveTimeout: timeouts.keepAliveMs,
    connectionsCheckingInterval: Math.min(1_000, timeouts.headersMs / 2),
    // The pipeline refuses a missing Host, with an Error object.
    requireHostHeader: false,
  });
  server.timeout = timeouts.stalledMs;
  // Node would silently drop headers beyond the first thousand. Their bytes are limited.
  server.maxHeadersCount = 0;
  const connections = new Connections(server);
  const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    connections.track(request, response);
    void listener(request, response);
  };
  server.on('request', onRequest);
  server.on('checkContinue', onRequest);
  server.on('checkExpectation', onRequest);
  server.on('connect', (_request: IncomingMessage, socket: Duplex) => {
    socket.on('error', () => socket.destroy());
    socket.end(errors.raw(NOT_FOUND, newId()));
  });
  server.on('clientError', (fault: Error, socket: Duplex) => {
    const refuse = (): void =>
      void connections.refuse(socket, errors.raw(refusalOf(fault), newId()));
    if (isLate(fault)) connections.unlessArrived(socket, refuse);
    else refuse();
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(at.port, at.host, resolve);
  });
  // Later errors concern one connection that could not be accepted.
  server.on('error', () => {});
  const { port } = server.address() as AddressInfo;
  return {
    port,
    inFlight: () => connections.inFlight,
    stop: (graceMs) => connections.stop(graceMs),
  };
}

function isLate(fault: Error): boolean {
  return 'code' in fault && fault.code === 'ERR_HTTP_REQUEST_TIMEOUT';
}

function refusalOf(fault: Error): Refusal {
  if (isLate(fault)) return invalidRequest('not_received_in_time');
  const isTooLong = 'code' in fault && fault.code === 'HPE_HEADER_OVERFLOW';
  return invalidRequest(isTooLong ? 'headers_too_long' : 'malformed_http');
}

/** Returns a refusal that does not mention a body, because the request may have none. */
function invalidRequest(reason: string): Refusal {
  return {
    ...invalidField('', reason),
    message: `the request is not valid: ${reasonInWords(reason)}`,
  };
}

interface OpenConnection {
  /** Responses that have not ended. */
  readonly pending: Set<ServerResponse>;
  latest: IncomingMessage | null;
  isRefused: boolean;
}

class Connections {
  inFlight = 0;
  private readonly open = new Map<Duplex, OpenConnection>();
  private stopping = false;

  constructor(private readonly server: Server) {
    server.on('connection', (socket: Socket) => {
      this.open.set(socket, { pending: new Set(), latest: null, isRefused: false });
      socket.once('close', () => this.open.delete(socket));
    });
  }

  track(request: IncomingMessage, response: ServerResponse): void {
    const own = this.open.get(request.socket);
    own?.pending.add(response);
    if (own !== undefined) own.latest = request;
    this.inFlight += 1;
    if (this.stopping) response.shouldKeepAlive = false;
    response.once('close', () => {
      own?.pending.delete(response);
      this.inFlight -= 1;
    });
  }

  /** Refuses a late request, unless data already received completes its headers or body. */
  unlessArrived(socket: Duplex, refuse: () => void): void {
    const own = this.open.get(socket);
    const latest = own?.latest;
    const isBodyLate = latest?.complete === false;
    afterReading(() => {
      const hasArrived = isBodyLate ? latest.complete : own?.latest !== latest;
      if (!hasArrived) refuse();
    });
  }

  /** Refuses a request that could not be parsed, after the responses to earlier requests. */
  async refuse(socket: Duplex, raw: string): Promise<void> {
    const own = this.open.get(socket);
    // Node reports each later chunk of a refused request as another error.
    if (own === undefined || own.isRefused) return;
    own.isRefused = true;
    const pending = [...own.pending];
    const earlier = pending.filter(({ req }) => req.complete);
    await Promise.all(
      earlier.map((response) => new Promise((resolve) => response.once('close', resolve))),
    );
    const broken = pending.find(({ req }) => !req.complete);
    if (!socket.writable || broken?.headersSent === true) {
      socket.destroy();
      return;
    }
    // A reset would lose the response of a client that is still sending.
    socket.end(raw);
    const last = setTimeout(() => socket.destroy(), LINGER_MS);
    socket.once('end', () => socket.destroy()).once('close', () => clearTimeout(last));
  }

  async stop(graceMs: number): Promise<void> {
    this.stopping = true;
    for (const { pending } of this.open.values())
      for (const response of pending) if (!response.headersSent) response.shouldKeepAlive = false;
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    // Node's closeIdleConnections keeps connections that have sent no data yet.
    const closeIdle = (): void => {
      for (const [socket, { pending }] of this.open)
        if (pending.size === 0 && (socket as Socket).bytesRead === 0) socket.destroy();
      this.server.closeIdleConnections();
    };
    closeIdle();
    const idleCheck = setInterval(closeIdle, IDLE_CHECK_MS);
    const last = setTimeout(() => this.server.closeAllConnections(), graceMs);
    await closed;
    clearInterval(idleCheck);
    clearTimeout(last);
  }
}
