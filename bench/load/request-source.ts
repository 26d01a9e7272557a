import { randomUUID } from 'node:crypto';
import type { Answer } from './connection.js';
import type { ListedRequest, LoadJob, Requests } from './job.js';

export interface NextRequest {
  readonly wire: string | Buffer;
  readonly labels: readonly string[];
  /** Expected status, if it differs from the job's. */
  readonly expectedStatus?: number;
  /** Returns the client's next request, which depends on the answer. Null for none. */
  readonly followUp?: (answer: Answer) => NextRequest | null;
}

const NO_LABELS: readonly string[] = [];

/** Returns the next request, or null at the end. */
export type RequestSource = () => NextRequest | null;

export function requestSource(job: LoadJob): RequestSource {
  const { requests } = job;
  switch (requests.kind) {
    case 'transfers':
      return transferSource(job, requests);
    case 'approved transfers':
      return approvedSource(job, requests);
    case 'listed':
      return listSource(job, requests);
  }
}

type TransferFacts = Omit<Extract<Requests, { kind: 'transfers' }>, 'kind'>;

/** Ids have a fixed length, so the requests differ only in them. */
function transferSource(job: LoadJob, requests: TransferFacts): RequestSource {
  const { sources, destinations, raw, asset } = requests;
  const body = (source: string, destination: string): string =>
    transferBody(source, destination, raw, asset);
  const length = body(sources[0] ?? '', destinations[0] ?? '').length;
  const before = head(job, 'POST', '/v1/transfers', length);
  return () => {
    const source = pick(sources);
    let destination = pick(destinations);
    while (destination === source) destination = pick(destinations);
    return {
      wire: `${before}Idempotency-Key: ${randomUUID()}\r\n\r\n${body(source, destination)}`,
      labels: NO_LABELS,
    };
  };
}

const ID = /"id":"([0-9a-f-]{36})"/;
const CREATE = { labels: ['create'], expectedStatus: 202 };
const APPROVE = { labels: ['approve'], expectedStatus: 200 };

function approvedSource(
  job: LoadJob,
  requests: Extract<Requests, { kind: 'approved transfers' }>,
): RequestSource {
  const create = transferSource(job, requests);
  const approver = { ...job, token: requests.approverToken };
  const followUp = ({ text }: Answer): NextRequest | null => {
    const id = ID.exec(text)?.[1];
    if (id === undefined) return null;
    return {
      wire: `${head(approver, 'POST', `/v1/transfers/${id}/approve`)}Idempotency-Key: ${randomUUID()}\r\n\r\n`,
      ...APPROVE,
    };
  };
  return () => {
    const request = create();
    return request === null ? null : { ...request, ...CREATE, followUp };
  };
}

export function transferBody(
  source: string,
  destination: string,
  raw: string,
  asset: string,
): string {
  return JSON.stringify({
    source_account: source,
    destination: { type: 'account', account_id: destination },
    amount: { raw, asset },
    description: 'Pago de la factura del mes',
  });
}

function listSource(
  job: LoadJob,
  { list, order }: Extract<Requests, { kind: 'listed' }>,
): RequestSource {
  const ready = list.map((one) => ({ wire: wireOf(job, one), labels: one.labels ?? NO_LABELS }));
  let next = 0;
  return order === 'random' ? () => pick(ready) : () => ready[next++] ?? null;
}

function wireOf(job: LoadJob, { path, post }: ListedRequest): Buffer {
  if (post === undefined) return Buffer.from(`${head(job, 'GET', path)}\r\n`);
  const length = Buffer.byteLength(post.body);
  return Buffer.from(
    `${head(job, 'POST', path, length)}Idempotency-Key: ${post.key}\r\n\r\n${post.body}`,
  );
}

/** The headers that all requests of a job share, without the empty line. */
function head(
  { ports: [port], token, cookie }: LoadJob,
  method: string,
  path: string,
  bodyLength?: number,
): string {
  const content =
    bodyLength === undefined
      ? ''
      : `Content-Type: application/json\r\nContent-Length: ${bodyLength}\r\n`;
  const person = cookie === undefined ? `Authorization: Bearer ${token}` : `Cookie: ${cookie}`;
  return `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${person}\r\n${content}`;
}

function pick<T>(items: readonly T[]): T {
  return items[Math.floor(Math.random() * items.length)] as T;
}
