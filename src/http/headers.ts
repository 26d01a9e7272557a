import type { IncomingMessage } from 'node:http';

/** Headers that must not be repeated, because it would be unclear which value applies. */
const SINGLE = [
  'Host',
  'Svc-Version',
  'Content-Type',
  'Authorization',
  'Content-Length',
  'Idempotency-Key',
] as const;
export type SingleHeader = (typeof SINGLE)[number];

/**
 * By length: this runs over every header of every request, and few headers have one of these
 * lengths.
 */
const BY_LENGTH = new Map<number, { readonly name: SingleHeader; readonly lower: string }>(
  SINGLE.map((name) => [name.length, { name, lower: name.toLowerCase() }]),
);

const NONE: ReadonlySet<SingleHeader> = new Set();

/**
 * Returns the single headers that were sent more than once. Node keeps only the first value or
 * joins them.
 */
export function repeatedHeaders(request: IncomingMessage): ReadonlySet<SingleHeader> {
  const { rawHeaders } = request;
  let seen: Set<SingleHeader> | null = null;
  let repeated: Set<SingleHeader> | null = null;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const text = rawHeaders[index] ?? '';
    const single = BY_LENGTH.get(text.length);
    if (single === undefined || text.toLowerCase() !== single.lower) continue;
    seen ??= new Set();
    if (seen.has(single.name)) (repeated ??= new Set()).add(single.name);
    seen.add(single.name);
  }
  return repeated ?? NONE;
}

export function headerText(request: IncomingMessage, lowerName: string): string | undefined {
  const value = request.headers[lowerName];
  return typeof value === 'string' ? value : undefined;
}
