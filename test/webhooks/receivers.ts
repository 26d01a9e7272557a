import {
  createServer as createHttpServer,
  type IncomingHttpHeaders,
  type ServerResponse,
} from 'node:http';
import { createServer as createTcpServer, type Server, type Socket } from 'node:net';
import {
  AddressGuard,
  type AddressGuardOptions,
  type AllowedHost,
  parseAllowedHost,
} from '../../src/webhooks/address-guard.js';
import type { AttemptResult } from '../../src/webhooks/attempt.js';
import { Sender, type SenderOptions } from '../../src/webhooks/sender.js';
import { listenAt } from '../helpers/service-process.js';

/** Receivers of deliveries, good and bad, and senders to them. */

export const NEVER = new AbortController().signal;

export function allow(...hosts: readonly string[]): AllowedHost[] {
  return hosts.map((host) => parseAllowedHost(host)!);
}

export function guardWith(options: Partial<AddressGuardOptions> = {}): AddressGuard {
  return new AddressGuard({ allowedHosts: [], namesAreLeftToProxy: false, ...options });
}

/** A sender that may reach receivers on 127.0.0.1, and what it leaves open. */
export function senderWith(options: Partial<SenderOptions> = {}): Sender {
  const guard = guardWith({ allowedHosts: allow('http://127.0.0.1:*', 'https://127.0.0.1:*') });
  const sender = new Sender({ guard, timeoutMs: 5_000, proxyUrl: null, ...options });
  senders.push(sender);
  return sender;
}

export function send(
  sender: Sender,
  url: string,
  body = '{}',
  signal = NEVER,
): Promise<AttemptResult> {
  return sender.send({ url, body: Buffer.from(body), headers: {} }, signal);
}

const senders: Sender[] = [];
const servers: { server: Server; sockets: Set<Socket> }[] = [];

/** Ends what the tests of a file opened. */
export async function closeAll(): Promise<void> {
  await Promise.all(senders.splice(0).map((sender) => sender.close()));
  for (const { server, sockets } of servers.splice(0)) {
    server.close();
    sockets.forEach((socket) => socket.destroy());
  }
}

export interface Listener {
  readonly port: number;
  readonly url: string;
  /** How many connections there ever were. */
  readonly connections: () => number;
  readonly open: () => number;
}

export async function listening(
  server: Server,
  host = '127.0.0.1',
  scheme = 'http',
): Promise<Listener> {
  const sockets = new Set<Socket>();
  let connections = 0;
  server.on('connection', (socket) => {
    connections++;
    sockets.add(socket.on('error', () => undefined).on('close', () => sockets.delete(socket)));
  });
  const port = await listenAt(server, host);
  servers.push({ server, sockets });
  return {
    port,
    url: `${scheme}://${host}:${port}/hook`,
    connections: () => connections,
    open: () => sockets.size,
  };
}

/** Speaks as it likes once a connection has said something. */
export function tcpReceiver(speak: (socket: Socket) => void): Promise<Listener> {
  return listening(createTcpServer((socket) => socket.once('data', () => speak(socket))));
}

interface Request {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly remotePort: number;
}

interface HttpReceiver extends Listener {
  readonly requests: Request[];
}

/** Answers 204 unless told otherwise, and keeps what arrived. */
export async function httpReceiver(
  answer: (response: ServerResponse, request: Request) => void = (response) =>
    void response.writeHead(204).end(),
  host?: string,
): Promise<HttpReceiver> {
  const requests: Request[] = [];
  const server = createHttpServer((incoming, response) => {
    const pieces: Buffer[] = [];
    incoming.on('data', (piece: Buffer) => pieces.push(piece));
    incoming.on('end', () => {
      const { method = '', url = '', headers, socket } = incoming;
      const request = {
        method,
        url,
        headers,
        body: Buffer.concat(pieces),
        remotePort: socket.remotePort ?? 0,
      };
      requests.push(request);
      answer(response, request);
    });
  });
  return { ...(await listening(server, host)), requests };
}
