import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { latencyOf } from '../load/latency.js';
import type { ReceiverRequest, Report, ReceiverMessage } from './protocol.js';

/**
 * The webhook receiver's process: answers every delivery at once and records when each event arrived. Each path is an
 * endpoint.
 */

interface Delivered {
  readonly id: string;
  readonly created_at: string;
}

interface First {
  readonly createdAt: number;
  readonly lateMs: number;
}

const first = new Map<string, First>();
let arrivals = 0;
let firstAt = 0;
let lastAt = 0;

const server = createServer((request, response) => {
  const arrivedAt = Date.now();
  let body = '';
  request.setEncoding('utf8');
  request.on('data', (piece: string) => (body += piece));
  request.on('end', () => {
    response.writeHead(204).end();
    // The service sent it, so it has this form.
    note(request.url ?? '', JSON.parse(body) as Delivered, arrivedAt);
  });
});
// Behaves like an endpoint behind a proxy: an idle connection stays open for a while.
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => send({ port: (server.address() as AddressInfo).port }));

function note(endpoint: string, { id, created_at: created }: Delivered, arrivedAt: number): void {
  const createdAt = Date.parse(created);
  if (arrivals === 0) firstAt = arrivedAt;
  arrivals += 1;
  lastAt = arrivedAt;
  const name = `${endpoint} ${id}`;
  if (!first.has(name)) first.set(name, { createdAt, lateMs: arrivedAt - createdAt });
}

function report(since: number): Report {
  const measured = [...first.values()].filter(({ createdAt }) => createdAt >= since);
  return {
    arrivals,
    distinct: first.size,
    latency: latencyOf(measured.map(({ lateMs }) => lateMs)),
    seconds: (lastAt - firstAt) / 1000,
  };
}

function send(message: ReceiverMessage): void {
  process.send?.(message);
}

process.on('message', (message) => {
  // Our own parent sent it (receiver.ts).
  const request = message as ReceiverRequest;
  send(request.kind === 'count' ? { distinct: first.size } : report(request.since));
});
process.once('disconnect', () => process.exit(0));
