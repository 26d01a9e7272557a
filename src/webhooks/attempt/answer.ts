import type { IncomingHttpHeaders } from 'node:http';

/** The part of a receiver's answer that is kept. */

/** No more than this is read of a body. */
export const MAX_BODY_BYTES = 65_536;
const HEAD_BYTES = 1_024;
const DAY_MS = 86_400_000;
/** Characters that control a terminal, break a line or change its direction; tabs and line feeds stay. */
const UNPRINTABLE = /(?![\t\n])[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;

export interface Answer {
  readonly status: number;
  readonly head: string;
  readonly retryAfterMs: number | null;
}

/** The first KiB of an answer as text for people. */
export function headText(body: Buffer): string {
  if (body.length === 0) return '';
  const isCut = body.length > HEAD_BYTES;
  // A character divided by the cut is dropped.
  const text = new TextDecoder().decode(body.subarray(0, HEAD_BYTES), { stream: isCut });
  return text.replaceAll('\r\n', '\n').replaceAll(UNPRINTABLE, '\uFFFD');
}

/** `Retry-After` of a 429 or 503, in seconds or as an HTTP date. */
export function retryAfterMs(
  status: number,
  headers: IncomingHttpHeaders,
  nowMs: number,
): number | null {
  const given = headers['retry-after'];
  if ((status !== 429 && status !== 503) || given === undefined) return null;
  const waitMs = /^\d+$/.test(given) ? Number(given) * 1_000 : httpDateMs(given) - nowMs;
  return Number.isNaN(waitMs) ? null : Math.min(Math.max(waitMs, 0), DAY_MS);
}

function httpDateMs(text: string): number {
  return /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(text)
    ? Date.parse(text)
    : Number.NaN;
}
