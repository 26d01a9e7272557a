import { randomFillSync } from 'node:crypto';
import { v7 } from 'uuid';

declare const uuidBrand: unique symbol;

/** A UUID in its canonical form: lower case, with dashes. */
export type Uuid = string & { readonly [uuidBrand]: true };

const ID_BYTES = 16;
const RANDOM_BYTES = 10;
/** Random bytes are fetched for many ids at once: one by one they were a sixth of a posting's CPU time. */
const pool = Buffer.alloc(1024 * RANDOM_BYTES);
let used = pool.length;
/** The millisecond as an id begins with it, and the counter of the last id. */
const last = { msecs: 0, text: '', seq: 0 };
const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/**
 * A new time-ordered id (UUID v7), behind every one that this process made before. Written out here: a transfer takes six, and
 * `uuid` takes five times as long for each.
 */
export function newId(): Uuid {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const at = used;
  used += RANDOM_BYTES;
  const now = Date.now();
  if (now > last.msecs) {
    last.msecs = now;
    const hex = now.toString(16).padStart(12, '0');
    last.text = `${hex.slice(0, 8)}-${hex.slice(8)}-`;
    // Half of the counter's 32 bits, so that it does not run over within the millisecond.
    last.seq = pool.readUInt32BE(at) >>> 1;
  } else last.seq += 1;
  const { text, seq } = last;
  const hex = (place: number): string => HEX[pool[at + place] ?? 0] ?? '';
  // The counter is split around the variant's two bits: 12 bits behind the version, 20 behind the variant.
  const high = `${HEX[0x70 | (seq >>> 28)]}${HEX[(seq >>> 20) & 0xff]}`;
  const low = `${HEX[0x80 | ((seq >>> 14) & 0x3f)]}${HEX[(seq >>> 6) & 0xff]}`;
  const rest = HEX[((seq << 2) & 0xfc) | ((pool[at + 4] ?? 0) & 3)];
  return `${text}${high}-${low}-${rest}${hex(5)}${hex(6)}${hex(7)}${hex(8)}${hex(9)}` as Uuid;
}

/** The id of what has a time (in milliseconds since 1970) and a digest: always the same, and ordered like the others. */
export function idOf(epochMs: number, digest: Uint8Array): Uuid {
  return v7({ random: digest.subarray(0, ID_BYTES), msecs: epochMs }) as Uuid;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

const CANONICAL = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

export function isCanonicalUuid(text: string): text is Uuid {
  return CANONICAL.test(text);
}

/** The canonical form of a UUID of any version and variant written in any case, or null when the text is none. */
export function parseUuid(text: string): Uuid | null {
  return UUID.test(text) ? (text.toLowerCase() as Uuid) : null;
}

/** A UUID from a place that holds nothing else (our own columns, a checked body). Throws on anything else. */
export function asUuid(text: string): Uuid {
  const id = parseUuid(text);
  if (id === null) throw new TypeError('not a UUID');
  return id;
}

/** When an id of ours was made, in milliseconds since 1970: a v7 begins with it. */
export function timeOfId(id: Uuid): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

/** The least id that can be made from that millisecond on. */
export function firstIdAt(epochMs: number): Uuid {
  const hex = Math.max(0, epochMs).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000` as Uuid;
}
