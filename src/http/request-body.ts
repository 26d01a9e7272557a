import type { IncomingMessage, ServerResponse } from 'node:http';
import { ApiError, invalidField, type Refusal } from '../core/errors.js';

export const MAX_JSON_BYTES = 64 * 1024;

const JSON_TYPE =
  /^application\/json[\t ]*(;[\t ]*charset[\t ]*=[\t ]*("utf-?8"|utf-?8)[\t ]*)?;?$/i;
const TOO_LARGE: Refusal = {
  code: 'body_too_large',
  message: `the body has more than ${MAX_JSON_BYTES} bytes, the most that this operation accepts`,
};
const EMPTY_BODY = Buffer.alloc(0);

export interface BodyTimeouts {
  readonly jsonMs: number;
  /** Not counted against the ledger's time. */
  readonly uploadMs: number;
}

export const BODY_TIMEOUTS: BodyTimeouts = { jsonMs: 30_000, uploadMs: 120_000 };

/** The client disconnected before its request was complete, so no response is sent. */
export class RequestAborted extends Error {
  override name = 'RequestAborted';
}

export function announcesBody(request: IncomingMessage): boolean {
  const length = request.headers['content-length'];
  return (
    request.headers['transfer-encoding'] !== undefined ||
    (length !== undefined && Number(length) > 0)
  );
}

/** Throws 415 unless the body is uncompressed JSON in UTF-8. */
export function assertJson(request: IncomingMessage): void {
  const type = request.headers['content-type'];
  if (type !== 'application/json' && (type === undefined || !JSON_TYPE.test(type))) {
    const missing = announcesBody(request) ? '' : '; without any field, the body is {}';
    throw new ApiError({
      code: 'unsupported_media_type',
      message: `the Content-Type must be application/json, in UTF-8${missing}`,
    });
  }
  assertPlain(request);
}

export function assertPlain(request: IncomingMessage): void {
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity')
    throw new ApiError({
      code: 'unsupported_media_type',
      message: 'the body must not be compressed',
    });
}

export function bodyTimeout(): ApiError {
  return new ApiError(invalidField('', 'not_received_in_time'));
}

/** Runs `work` after received data was read, also after a standstill of the process. */
export function afterReading(work: () => void): void {
  setImmediate(work);
}

/** Throws 413 `body_too_large`, 400 if it is incomplete after `limitMs`, RequestAborted. */
export async function readBody(
  request: IncomingMessage,
  response: ServerResponse,
  limitMs: number,
): Promise<Buffer> {
  if (!announcesBody(request)) return EMPTY_BODY;
  const length = request.headers['content-length'];
  // A client that waits for "100 Continue" gets a refusal before it sends the body.
  if (waitsForContinue(request) && !(Number(length) > MAX_JSON_BYTES)) response.writeContinue();
  if (Number(length) > MAX_JSON_BYTES) throw new ApiError(TOO_LARGE);
  return collectBody(request, limitMs);
}

/** Collects the body without a library, which took 4 % of the time of a transfer. */
function collectBody(request: IncomingMessage, limitMs: number): Promise<Buffer> {
  // No further event follows if the client disconnected during the token check.
  if (request.destroyed) return Promise.reject(new RequestAborted());
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const end = (fault: Error | null): void => {
      clearTimeout(timer);
      request.off('data', take).off('end', whole).off('error', broken).off('close', broken);
      if (fault === null)
        return resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks));
      // Reads the remainder, because the connection's next request follows it.
      request.resume();
      reject(fault);
    };
    const take = (chunk: Buffer): void => {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > MAX_JSON_BYTES) end(new ApiError(TOO_LARGE));
    };
    const whole = (): void => end(null);
    const broken = (): void => end(new RequestAborted());
    const timer = setTimeout(() => afterReading(() => end(bodyTimeout())), limitMs);
    // The empty listener stays, because an unhandled error would end the process, even a later one.
    request
      .on('data', take)
      .on('end', whole)
      .on('error', broken)
      .on('error', () => undefined)
      .on('close', broken);
  });
}

export function waitsForContinue(request: IncomingMessage): boolean {
  return request.headers.expect?.toLowerCase() === '100-continue';
}
