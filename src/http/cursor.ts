import { createCipheriv } from 'node:crypto';
import { ApiError, invalidField } from '../core/errors.js';
import { hmac, type Keyring, sameBytes, type SecretKey, UnknownKey } from '../core/fingerprint.js';
import { asUuid, type Uuid } from '../core/ids.js';
import { instant } from '../core/instant.js';
import type { Page, TimePosition } from '../core/pages.js';

/** The list for which a cursor is valid. */
export interface CursorBinding {
  readonly tenantId: Uuid;
  /** The collection: the path with its ids. */
  readonly endpoint: string;
  /** Every filter of the request, as parsed, without `limit`. */
  readonly filters: Readonly<Record<string, unknown>>;
}

const MAC_BYTES = 16;
const BASE64URL = /^[A-Za-z0-9_-]+$/;
const LONGEST = 1024;
const KEY_ID = /^[A-Za-z0-9_-]{1,32}$/;
/** Follows the key id; if it is missing, the length before the id was changed. */
const ID_ENDS = ':'.charCodeAt(0);
const MIN_POSITION = '[]'.length;

/**
 * Opaque page cursors: an encrypted position, its signature over tenant, endpoint and filters, and
 * the id of the signing key. (docs/contract.md, Collections) The bytes are 16 of signature, one
 * with the length of the key id, the key id, a colon, and the position as JSON, encrypted with
 * AES-256 in counter mode starting from the signature (as in RFC 5297: no two positions share a
 * beginning, and no randomness is needed). The signature does not cover the key id. A cursor whose
 * key id was changed still has a signature of one of our keys, and a cursor with its own key id and
 * any other change is not signed by that key: both are refused. Only a cursor that names an unknown
 * key, and that none of our keys signed, may come from another process with a newer key.
 */
export class Cursors {
  private readonly keys: readonly [CursorKey, ...CursorKey[]];

  constructor([first, ...rest]: Keyring) {
    this.keys = [cursorKey(first), ...rest.map(cursorKey)];
  }

  encode(binding: CursorBinding, position: readonly string[]): string {
    const payload = Buffer.from(JSON.stringify(position), 'utf8');
    const [key] = this.keys;
    const id = Buffer.from(key.id, 'ascii');
    const mac = sign(key, binding, payload);
    const parts = [mac, Buffer.of(id.length), id, Buffer.of(ID_ENDS), encrypted(key, mac, payload)];
    return Buffer.concat(parts).toString('base64url');
  }

  /**
   * Returns the position. Throws 400 `invalid_field` {field: "cursor"} for a cursor that was not
   * made for this list, and UnknownKey if this process does not have the key (yet).
   */
  decode(binding: CursorBinding, cursor: string): readonly string[] {
    const bytes = readCanonical(cursor);
    const parts = bytes === null ? null : readParts(bytes);
    if (parts === null) throw refused();
    const { mac, keyId, content } = parts;
    for (const key of this.keys) {
      const payload = encrypted(key, mac, content);
      if (!sameBytes(sign(key, binding, payload), mac)) continue;
      if (keyId !== key.id) throw refused();
      // The signature is ours, so this is the text that `encode` received.
      return JSON.parse(payload.toString('utf8')) as string[];
    }
    const isForeign = this.keys.every((key) => key.id !== keyId);
    throw isForeign ? new UnknownKey('CURSOR_KEYS', keyId) : refused();
  }
}

interface CursorKey extends SecretKey {
  /** A separate key derived from the secret, so that no two uses share a key. */
  readonly encryption: Buffer;
}

function cursorKey(key: SecretKey): CursorKey {
  return { ...key, encryption: hmac(key, 'the encryption of cursors') };
}

/** Encrypts and decrypts: counter mode is its own inverse. */
function encrypted({ encryption }: CursorKey, mac: Buffer, content: Buffer): Buffer {
  return createCipheriv('aes-256-ctr', encryption, mac).update(content);
}

interface CursorParts {
  readonly mac: Buffer;
  readonly keyId: string;
  /** The position as JSON, encrypted. */
  readonly content: Buffer;
}

function readParts(bytes: Buffer): CursorParts | null {
  const mac = bytes.subarray(0, MAC_BYTES);
  const rest = bytes.subarray(MAC_BYTES);
  const [length = 0] = rest;
  const keyId = rest.toString('latin1', 1, 1 + length);
  const content = rest.subarray(2 + length);
  const isWhole =
    KEY_ID.test(keyId) && rest[1 + length] === ID_ENDS && content.length >= MIN_POSITION;
  return isWhole ? { mac, keyId, content } : null;
}

/**
 * Returns the position in a list ordered by creation; null at its beginning. Throws what
 * `Cursors.decode` throws.
 */
function readPosition(
  cursors: Cursors,
  binding: CursorBinding,
  cursor: string | undefined,
): TimePosition | null {
  const [at, id] = cursor === undefined ? [] : cursors.decode(binding, cursor);
  return at === undefined || id === undefined
    ? null
    : { createdAt: instant(Number.parseInt(at, 10)), id: asUuid(id) };
}

/** Returns `next_cursor`, null on the last page. */
function writePosition(
  cursors: Cursors,
  binding: CursorBinding,
  next: TimePosition | null,
): string | null {
  return next === null ? null : cursors.encode(binding, [String(next.createdAt), next.id]);
}

interface PageRequest extends BoundRequest {
  readonly query: { readonly cursor?: string | undefined; readonly limit: number };
}

/**
 * Responds with a page of a list that is ordered by creation, newest first. Throws what
 * `Cursors.decode` throws.
 */
export async function answerPage<Item>(
  cursors: Cursors,
  request: PageRequest,
  read: (before: TimePosition | null, limit: number) => Promise<Page<Item>>,
  present: (item: Item) => object,
): Promise<{ readonly status: 200; readonly body: object }> {
  const binding = cursorBinding(request);
  const { cursor, limit } = request.query;
  const { items, next } = await read(readPosition(cursors, binding, cursor), limit);
  return {
    status: 200,
    body: { items: items.map(present), next_cursor: writePosition(cursors, binding, next) },
  };
}

interface BoundRequest {
  readonly caller: { readonly tenantId: Uuid };
  readonly path: string;
  readonly query: object;
}

/** Returns the binding of a page request: its path, and its query except `limit` and `cursor`. */
export function cursorBinding(request: BoundRequest): CursorBinding {
  const filters = Object.entries(request.query)
    .filter(([name, value]) => name !== 'limit' && name !== 'cursor' && value !== undefined)
    // JSON has no bigint.
    .map(
      ([name, value]: [string, unknown]) =>
        [name, typeof value === 'bigint' ? value.toString() : value] as const,
    );
  return {
    tenantId: request.caller.tenantId,
    endpoint: request.path,
    filters: Object.fromEntries(filters),
  };
}

function refused(): ApiError {
  return new ApiError(invalidField('cursor', 'not_a_cursor_of_this_list'));
}

/**
 * Returns null unless the text is the canonical encoding of its bytes: changing an unused bit
 * changes the cursor.
 */
function readCanonical(cursor: string): Buffer | null {
  if (cursor.length > LONGEST || !BASE64URL.test(cursor)) return null;
  const bytes = Buffer.from(cursor, 'base64url');
  return bytes.length > MAC_BYTES && bytes.toString('base64url') === cursor ? bytes : null;
}

function sign(key: SecretKey, binding: CursorBinding, payload: Buffer): Buffer {
  const { tenantId, endpoint, filters } = binding;
  const sorted = Object.entries(filters).sort(([a], [b]) => (a < b ? -1 : 1));
  const context = JSON.stringify(['cursor', tenantId, endpoint, sorted]);
  // The context is a JSON array, whose end is unambiguous, so no other context and payload have the
  // same text.
  return hmac(key, `${context}${payload.toString('base64')}`).subarray(0, MAC_BYTES);
}
