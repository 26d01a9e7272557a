import * as http from 'node:http';
import * as https from 'node:https';
import { isIPv6, type TcpNetConnectOpts } from 'node:net';
import type { Duplex } from 'node:stream';

/**
 * The agents that make deliveries' connections. None limits their number: a hanging receiver holds
 * only its own.
 */

export interface Agents {
  readonly http: http.Agent;
  readonly https: https.Agent;
}

type AddressChoice = Pick<TcpNetConnectOpts, 'autoSelectFamily' | 'autoSelectFamilyAttemptTimeout'>;

/** A request that may only go to these addresses. */
export interface PinnedOptions extends https.RequestOptions, AddressChoice {
  /** All pins in one text: a connection is reused only by a request with the same. */
  readonly pins?: string;
}

/** Shorter than what servers commonly allow an idle connection. */
const IDLE_MS = 4_000;
/**
 * For each receiver. Each was in use within the last seconds, and saves its next user a handshake.
 */
const MAX_IDLE = 64;

const pooled = { keepAlive: true, timeout: IDLE_MS, maxFreeSockets: MAX_IDLE } as const;
/** No resumed sessions: every connection verifies the certificate. */
const verified = { rejectUnauthorized: true, maxCachedSessions: 0 } as const;

export function directAgents(reuse: boolean): Agents {
  const options = reuse ? pooled : {};
  return {
    http: new DirectHttpAgent(options),
    https: new DirectHttpsAgent({ ...options, ...verified }),
  };
}

export function proxiedAgents(reuse: boolean, proxyUrl: URL, timeoutMs: number): Agents {
  const options = reuse ? pooled : {};
  const tunnel: Tunnel = (to) => openTunnel(proxyUrl, to, timeoutMs);
  return {
    http: new TunnelHttpAgent(tunnel, options),
    https: new TunnelHttpsAgent(tunnel, { ...options, ...verified }),
  };
}

class DirectHttpAgent extends http.Agent {
  override getName(options: PinnedOptions = {}): string {
    return `${super.getName(options)}|${options.pins}`;
  }
}

class DirectHttpsAgent extends https.Agent {
  override getName(options: PinnedOptions = {}): string {
    return `${super.getName(options)}|${options.pins}`;
  }
}

type Created = (error: Error | null, socket?: Duplex) => void;
type Tunnel = (to: http.ClientRequestArgs) => Promise<Duplex>;

class TunnelHttpAgent extends http.Agent {
  constructor(
    private readonly tunnel: Tunnel,
    options: http.AgentOptions,
  ) {
    super(options);
  }

  override createConnection(options: http.ClientRequestArgs, created: Created): undefined {
    this.tunnel(options).then((socket) => created(null, socket), created);
  }
}

class TunnelHttpsAgent extends https.Agent {
  constructor(
    private readonly tunnel: Tunnel,
    options: https.AgentOptions,
  ) {
    super(options);
  }

  override createConnection(options: https.RequestOptions, created: Created): undefined {
    this.tunnel(options).then((socket) => {
      const secure: https.RequestOptions & { socket: Duplex } = { ...options, socket };
      created(null, super.createConnection(secure) ?? undefined);
    }, created);
  }
}

/**
 * Resolves with a connection to the receiver. Rejects with ProxyRefused, or with the network's
 * error.
 */
function openTunnel(
  proxyUrl: URL,
  { host, port }: http.ClientRequestArgs,
  timeoutMs: number,
): Promise<Duplex> {
  const authority = `${isIPv6(host ?? '') ? `[${host}]` : host}:${port}`;
  return new Promise((resolve, reject) => {
    const { request } = proxyUrl.protocol === 'https:' ? https : http;
    const connect = request(proxyUrl, {
      method: 'CONNECT',
      path: authority,
      agent: false,
      headers: { host: authority, ...proxyCredentials(proxyUrl) },
    });
    const timer = setTimeout(
      () => connect.destroy(new ProxyRefused('the egress proxy did not answer')),
      timeoutMs,
    );
    connect.once('close', () => clearTimeout(timer));
    connect.once('error', () => reject(new ProxyRefused('the egress proxy gave no connection')));
    connect.once('response', ({ statusCode }) => {
      reject(new ProxyRefused(`the egress proxy answered ${statusCode}`));
      connect.destroy();
    });
    connect.once('connect', ({ statusCode }, socket) => {
      clearTimeout(timer);
      if (statusCode === 200) return resolve(socket);
      reject(new ProxyRefused(`the egress proxy answered ${statusCode}`));
      socket.destroy();
    });
    connect.end();
  });
}

function proxyCredentials({ username, password }: URL): http.OutgoingHttpHeaders {
  if (username === '') return {};
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(pair).toString('base64')}` };
}

/** The egress proxy refused to connect to the receiver. */
export class ProxyRefused extends Error {
  override name = 'ProxyRefused';
}
