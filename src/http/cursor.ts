import { ApiError, invalidField } from '../core/errors.js';
import { hmac, type Keyring, sameBytes } from '../core/fingerprint.js';
import { asUuid, type Uuid } from '../core/ids.js';
import { instant } from '../core/instant.js';
import type { TimePosition } from '../core/pages.js';

/** Where a cursor is good: nowhere else. */
export interface CursorBinding {
  readonly tenantId: Uuid;
  /** The collection: the path with its ids. */
  readonly endpoint: string;
  /** Every filter that was sent, as it was understood; `limit` is none. */
  readonly filters: Readonly<Record<string, unknown>>;
}

const MAC_BYTES = 16;
const BASE64URL = /^[A-Za-z0-9_-]+$/;
const LONGEST = 1024;

/** The opaque page cursors: a position and its signature over tenant, endpoint and filters. (decisions.md, Collections) */
export class Cursors {
  private readonly keys: Keyring;

  constructor(keys: Keyring) {
    this.keys = keys;
  }

  encode(binding: CursorBinding, position: readonly string[]): string {
    const payload = Buffer.from(JSON.stringify(position), 'utf8');
    return Buffer.concat([sign(this.keys[0], binding, payload), payload]).toString('base64url');
  }

  /** The position. Throws 400 `invalid_field` {field: "cursor"} for what this service did not make for this very list. */
  decode(binding: CursorBinding, cursor: string): readonly string[] {
    const bytes = readCanonical(cursor);
    if (bytes === null) throw refused();
    const mac = bytes.subarray(0, MAC_BYTES);
    const payload = bytes.subarray(MAC_BYTES);
    if (!this.keys.some((key) => sameBytes(sign(key, binding, payload), mac))) throw refused();
    // Signed by us, so it is what encode was given.
    return JSON.parse(payload.toString('utf8')) as string[];
  }
}

/** The position of a list ordered by creation; null: from its beginning. Throws as `Cursors.decode`. */
export function readPosition(
  cursors: Cursors,
  binding: CursorBinding,
  cursor: string | undefined,
): TimePosition | null {
  const [at, id] = cursor === undefined ? [] : cursors.decode(binding, cursor);
  return at === undefined || id === undefined ? null : { createdAt: instant(Number.parseInt(at, 10)), id: asUuid(id) };
}

/** `next_cursor`: null on the last page. */
export function writePosition(cursors: Cursors, binding: CursorBinding, next: TimePosition | null): string | null {
  return next === null ? null : cursors.encode(binding, [String(next.createdAt), next.id]);
}

/** The binding of a request for a page: its path and all of its query but `limit` and `cursor`. */
export function cursorBinding(request: {
  readonly caller: { readonly tenantId: Uuid };
  readonly path: string;
  readonly query: object;
}): CursorBinding {
  const filters = Object.entries(request.query).filter(
    ([name, value]) => name !== 'limit' && name !== 'cursor' && value !== undefined,
  );
  return { tenantId: request.caller.tenantId, endpoint: request.path, filters: Object.fromEntries(filters) };
}

function refused(): ApiError {
  return new ApiError(invalidField('cursor', 'not_a_cursor_of_this_list'));
}

/** Null for anything but the one text that encodes the bytes: a changed unused bit is a changed cursor. */
function readCanonical(cursor: string): Buffer | null {
  if (cursor.length > LONGEST || !BASE64URL.test(cursor)) return null;
  const bytes = Buffer.from(cursor, 'base64url');
  return bytes.length > MAC_BYTES && bytes.toString('base64url') === cursor ? bytes : null;
}

function sign(key: Keyring[0], binding: CursorBinding, payload: Buffer): Buffer {
  const { tenantId, endpoint, filters } = binding;
  const sorted = Object.entries(filters).sort(([a], [b]) => (a < b ? -1 : 1));
  const context = JSON.stringify(['cursor', tenantId, endpoint, sorted]);
  // The context is JSON and ends where its array does, so no other context and payload make the same text.
  return hmac(key, `${context}${payload.toString('base64')}`).subarray(0, MAC_BYTES);
}
