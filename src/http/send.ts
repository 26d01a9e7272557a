import { once } from 'node:events';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Exchange } from './exchange.js';
import { announcesBody, MAX_JSON_BYTES, RequestAborted, waitsForContinue } from './request-body.js';
import type { FileResponse } from './route.js';

const JSON_HEADERS = [
  'Content-Type',
  'application/json; charset=utf-8',
  'Cache-Control',
  'no-store',
  'X-Content-Type-Options',
  'nosniff',
] as const;

/** Limits for discarding the body of a refused request, so that the client reads the response. */
const DISCARD_BYTES = 16 * 1024 * 1024;
const DISCARD_MS = 1_000;

/** Writes a response with the common headers. `text` is JSON; null for no body. */
export function sendJson(
  exchange: Exchange,
  status: number,
  text: string | null,
  own: Readonly<Record<string, string>>,
): void {
  const { response } = exchange;
  const headers = commonHeaders(exchange, own);
  if (text !== null)
    headers.push(...JSON_HEADERS, 'Content-Length', String(Buffer.byteLength(text)));
  const isLast = own['Connection'] === 'close';
  const unread = unreadBody(exchange, isLast);
  if (!isLast && (unread === 'large' || unread === 'not_begun'))
    headers.push('Connection', 'close');
  response.writeHead(status, headers);
  if (unread !== 'large') response.end(text);
  else endAfterDiscarding(exchange, text);
}

/** Returns the common headers and the response's own, alternating names and values. */
function commonHeaders(
  { requestId, rate }: Exchange,
  own: Readonly<Record<string, string>>,
): string[] {
  const headers: string[] = ['Svc-Request-Id', requestId];
  if (rate !== null)
    headers.push(
      'RateLimit-Limit',
      String(rate.limit),
      'RateLimit-Remaining',
      String(rate.remaining),
      'RateLimit-Reset',
      String(rate.resetS),
    );
  for (const name in own) headers.push(name, own[name] ?? '');
  return headers;
}

/** Node discards a small remainder itself, except before a connection's last response. */
function unreadBody(
  { request }: Exchange,
  isLast: boolean,
): 'none' | 'small' | 'large' | 'not_begun' {
  if (request.complete || !announcesBody(request)) return 'none';
  if (waitsForContinue(request) && !request.readableDidRead) return 'not_begun';
  const length = Number(request.headers['content-length'] ?? Number.POSITIVE_INFINITY);
  return length <= MAX_JSON_BYTES && !isLast ? 'small' : 'large';
}

/** Discards the body before it ends, because closing would reset a client that is still sending. */
function endAfterDiscarding({ request, response }: Exchange, text: string | null): void {
  let discarded = 0;
  const end = (): void => {
    clearTimeout(timer);
    request.off('data', count);
    response.end();
  };
  const count = (chunk: Buffer): void => {
    discarded += chunk.length;
    if (discarded > DISCARD_BYTES) end();
  };
  const timer = setTimeout(end, DISCARD_MS);
  if (text !== null) response.write(text);
  request.on('data', count).once('end', end).once('close', end).once('error', end);
  request.resume();
}

const STALLED_MS = 60_000;

/** Sends in chunks, so that a client detects a missing end. Throws RequestAborted. */
export async function sendFile(
  exchange: Exchange,
  status: number,
  file: FileResponse,
  own: Readonly<Record<string, string>>,
): Promise<void> {
  const { response, method } = exchange;
  const head = [
    ...commonHeaders(exchange, own),
    'Content-Type',
    file.contentType,
    'Content-Disposition',
    `attachment; filename="${checkedName(file.name)}"`,
    'Cache-Control',
    'no-store',
    'X-Content-Type-Options',
    'nosniff',
  ];
  if (method === 'HEAD') {
    response.writeHead(status, head).end();
    return;
  }
  const content = Readable.from(file.pieces);
  // A failure before the first piece still gets an error response.
  await once(content, 'readable');
  response.writeHead(status, head).setTimeout(STALLED_MS, () => response.destroy());
  await pipeline(content, response).catch((failure: NodeJS.ErrnoException) => {
    throw failure.code === 'ERR_STREAM_PREMATURE_CLOSE' ? new RequestAborted() : failure;
  });
}

/** A name that would break the header is a bug. */
function checkedName(name: string): string {
  if (!/^[\w.-]+$/.test(name)) throw new Error('the name of the file cannot stand in a header');
  return name;
}
