import { randomFillSync } from 'node:crypto';
import { v7 } from 'uuid';

declare const uuidBrand: unique symbol;

/** A UUID in its canonical form: lower case, with dashes. */
export type Uuid = string & { readonly [uuidBrand]: true };

const ID_BYTES = 16;
/** Random bytes for many ids. Fetching them for each id took a sixth of a posting's CPU time. */
const pool = Buffer.alloc(1024 * ID_BYTES);
let used = pool.length;
const last = { msecs: 0, seq: 0 };
/** If the clock is set back by less, ids keep their order. */
const MAX_AHEAD_MS = 5_000;
/** Milliseconds that new ids add to the clock of the process. */
let correctionMs = 0;

/**
 * Makes the times of new ids those of the database's clock, which is ahead of the process's clock by
 * `differenceMs`. Sweeps that follow ids would miss those of a slow process.
 */
export function correctIdClock(differenceMs: number): void {
  correctionMs = differenceMs;
}

/** Returns an id after all earlier ones, unless the clock was set back by over `MAX_AHEAD_MS`. */
export function newId(): Uuid {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const random = pool.subarray(used, (used += ID_BYTES));
  const now = Date.now() + correctionMs;
  if (now > last.msecs || now < last.msecs - MAX_AHEAD_MS) {
    last.msecs = now;
    // The lower half of the 32-bit counter does not overflow within the millisecond.
    last.seq = random.readUInt32BE(0) >>> 1;
  } else last.seq += 1;
  return v7({ random, msecs: last.msecs, seq: last.seq }) as Uuid;
}

/**
 * Returns the id for a time (in milliseconds since 1970) and a digest, ordered like other ids. With
 * the same time and digest, ids have the order of `seq`, an integer below 2^32.
 */
export function idFromDigest(epochMs: number, digest: Uint8Array, seq?: number): Uuid {
  const random = digest.subarray(0, ID_BYTES);
  return v7({ random, msecs: epochMs, ...(seq === undefined ? {} : { seq }) }) as Uuid;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

const CANONICAL = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

export function isCanonicalUuid(text: string): text is Uuid {
  return CANONICAL.test(text);
}

/** Returns a UUID of any version, variant and case in canonical form, or null. */
export function parseUuid(text: string): Uuid | null {
  return UUID.test(text) ? (text.toLowerCase() as Uuid) : null;
}

/** Returns the UUID in trusted text (a column, a validated body). Throws if it is not a UUID. */
export function asUuid(text: string): Uuid {
  const id = parseUuid(text);
  if (id === null) throw new TypeError('not a UUID');
  return id;
}

/** Returns the time of an id, in milliseconds since 1970. */
export function timeOfId(id: Uuid): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

const LAST_MS = 2 ** 48 - 1;

/** Returns the smallest id from that millisecond on. No id has a time after `LAST_MS`. */
export function firstIdAt(epochMs: number): Uuid {
  const hex = Math.min(LAST_MS, Math.max(0, epochMs)).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000` as Uuid;
}
