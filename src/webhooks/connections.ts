import * as http from 'node:http';
import * as https from 'node:https';
import { isIPv6, type TcpNetConnectOpts } from 'node:net';
import type { Duplex } from 'node:stream';

/** Neither agent limits its connections, so a receiver that hangs delays no other. */
export interface Agents {
  readonly http: http.Agent;
  readonly https: https.Agent;
}

type AddressChoice = Pick<TcpNetConnectOpts, 'autoSelectFamily' | 'autoSelectFamilyAttemptTimeout'>;

export interface PinnedOptions extends https.RequestOptions, AddressChoice {
  /** Connections are reused only by requests with the same pins. */
  readonly pins?: string;
}

/** Shorter than the time after which servers commonly close an idle connection. */
const IDLE_MS = 4_000;
const MAX_IDLE = 64;

const pooled = { keepAlive: true, timeout: IDLE_MS, maxFreeSockets: MAX_IDLE } as const;
/** Sessions are not resumed, so that every connection verifies the certificate. */
const verified = { rejectUnauthorized: true, maxCachedSessions: 0 } as const;

/** Returns agents that connect through the proxy, or directly if `proxyUrl` is null. */
export function newAgents(
  connections: 'reused' | 'single',
  proxyUrl: URL | null,
  timeoutMs: number,
): Agents {
  const options = connections === 'reused' ? pooled : {};
  const agents = {
    http: new http.Agent(options),
    https: new https.Agent({ ...options, ...verified }),
  };
  for (const agent of [agents.http, agents.https])
    if (proxyUrl === null) sharePins(agent);
    else tunnelThrough(agent, (to) => openTunnel(proxyUrl, to, timeoutMs));
  return agents;
}

/** Makes the agent reuse a connection only for requests with the same pins. */
function sharePins(agent: http.Agent): void {
  const getName = agent.getName.bind(agent);
  agent.getName = (options: PinnedOptions = {}) => `${getName(options)}|${options.pins}`;
}

type OnCreated = (error: Error | null, socket?: Duplex) => void;
type Tunnel = (to: http.ClientRequestArgs) => Promise<Duplex>;

function tunnelThrough(agent: http.Agent, tunnel: Tunnel): void {
  const connect = agent.createConnection.bind(agent);
  const isSecure = agent instanceof https.Agent;
  const createConnection = (options: http.ClientRequestArgs, onCreated: OnCreated): void => {
    tunnel(options).then((socket) => {
      const secure: http.ClientRequestArgs & { socket: Duplex } = { ...options, socket };
      onCreated(null, isSecure ? (connect(secure) ?? undefined) : socket);
    }, onCreated);
  };
  Object.assign(agent, { createConnection });
}

/** Opens a tunnel by CONNECT. Rejects with ProxyRefused. */
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

export class ProxyRefused extends Error {
  override name = 'ProxyRefused';
}
