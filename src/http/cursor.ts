import { createCipheriv } from 'node:crypto';
import { ApiError, invalidField } from '../core/errors.js';
import { hmac, type Keyring, sameBytes, type SecretKey, UnknownKey } from '../core/fingerprint.js';
import { asUuid, type Uuid } from '../core/ids.js';
import { instant } from '../core/instant.js';
import type { Page, TimePosition } from '../core/collections.js';

export interface CursorBinding {
  readonly tenantId: Uuid;
  readonly endpoint: string;
  readonly filters: Readonly<Record<string, unknown>>;
}

const MAC_BYTES = 16;
const BASE64URL = /^[A-Za-z0-9_-]+$/;
const LONGEST = 1024;
const KEY_ID = /^[A-Za-z0-9_-]{1,32}$/;
const COLON = ':'.charCodeAt(0);
const MIN_POSITION = '[]'.length;

/**
 * Makes and reads opaque page cursors. (docs/contract.md, Collections) The bytes: 16 of signature
 * over tenant, endpoint, filters and position; the length of the key id; the key id; a colon; the
 * position as JSON, encrypted with AES-256-CTR starting from the signature (as in RFC 5297). If no
 * key of this process made the signature and the key id is unknown, a process with a newer key may
 * have made the cursor.
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
    const parts = [mac, Buffer.of(id.length), id, Buffer.of(COLON), applyCipher(key, mac, payload)];
    return Buffer.concat(parts).toString('base64url');
  }

  /**
   * Throws invalid_field for a cursor of another list, UnknownKey if this process lacks the key.
   */
  decode(binding: CursorBinding, cursor: string): readonly string[] {
    const parts = readParts(cursor);
    if (parts === null) throw cursorRefusal();
    const { mac, keyId, content } = parts;
    for (const key of this.keys) {
      const payload = applyCipher(key, mac, content);
      if (!sameBytes(sign(key, binding, payload), mac)) continue;
      if (keyId !== key.id) throw cursorRefusal();
      // The signature proves that `encode` wrote this text.
      return JSON.parse(payload.toString('utf8')) as string[];
    }
    const isForeign = this.keys.every((key) => key.id !== keyId);
    throw isForeign ? new UnknownKey('CURSOR_KEYS', keyId) : cursorRefusal();
  }
}

interface CursorKey extends SecretKey {
  /** Derived from the signing key, so that signature and encryption use different keys. */
  readonly encryption: Buffer;
}

function cursorKey(key: SecretKey): CursorKey {
  return { ...key, encryption: hmac(key, 'the encryption of cursors') };
}

/** Encrypts or decrypts: counter mode is its own inverse. */
function applyCipher({ encryption }: CursorKey, mac: Buffer, content: Buffer): Buffer {
  return createCipheriv('aes-256-ctr', encryption, mac).update(content);
}

/** Returns null unless the text is the canonical encoding of a cursor's parts. */
function readParts(cursor: string): { mac: Buffer; keyId: string; content: Buffer } | null {
  if (cursor.length > LONGEST || !BASE64URL.test(cursor)) return null;
  const bytes = Buffer.from(cursor, 'base64url');
  if (bytes.toString('base64url') !== cursor) return null;
  const mac = bytes.subarray(0, MAC_BYTES);
  const rest = bytes.subarray(MAC_BYTES);
  const [length = 0] = rest;
  const keyId = rest.toString('latin1', 1, 1 + length);
  const content = rest.subarray(2 + length);
  const isWhole =
    KEY_ID.test(keyId) && rest[1 + length] === COLON && content.length >= MIN_POSITION;
  return isWhole ? { mac, keyId, content } : null;
}

interface PageRequest extends BoundRequest {
  readonly query: { readonly cursor?: string | undefined; readonly limit: number };
}

/** Responds with a page of a list, newest first. Throws what `Cursors.decode` throws. */
export async function answerPage<Item>(
  cursors: Cursors,
  request: PageRequest,
  read: (before: TimePosition | null, limit: number) => Promise<Page<Item>>,
  present: (item: Item) => object,
): Promise<{ readonly status: 200; readonly body: object }> {
  const binding = cursorBinding(request);
  const { cursor, limit } = request.query;
  const [at, id] = cursor === undefined ? [] : cursors.decode(binding, cursor);
  const before =
    at === undefined || id === undefined
      ? null
      : { createdAt: instant(Number.parseInt(at, 10)), id: asUuid(id) };
  const { items, next } = await read(before, limit);
  const nextCursor =
    next === null ? null : cursors.encode(binding, [String(next.createdAt), next.id]);
  return { status: 200, body: { items: items.map(present), next_cursor: nextCursor } };
}

/** Answers with a page of a list in the order of a number, which `next` continues. */
export async function answerNumberedPage<More extends object>(
  cursors: Cursors,
  request: PageRequest,
  read: (
    after: bigint | null,
    limit: number,
  ) => Promise<{ readonly items: readonly unknown[]; readonly next: bigint | null } & More>,
): Promise<{ readonly status: 200; readonly body: object }> {
  const binding = cursorBinding(request);
  const { cursor, limit } = request.query;
  const [position] = cursor === undefined ? [] : cursors.decode(binding, cursor);
  const after = position === undefined ? null : BigInt(position);
  const { items, next, ...more } = await read(after, limit);
  const nextCursor = next === null ? null : cursors.encode(binding, [next.toString()]);
  return { status: 200, body: { items, next_cursor: nextCursor, ...more } };
}

interface BoundRequest {
  readonly caller: { readonly tenantId: Uuid };
  readonly path: string;
  readonly query: object;
}

/** Binds to the path, and to the query except `limit` and `cursor`. */
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

function cursorRefusal(): ApiError {
  return new ApiError(invalidField('cursor', 'not_a_cursor_of_this_list'));
}

function sign(key: SecretKey, binding: CursorBinding, payload: Buffer): Buffer {
  const { tenantId, endpoint, filters } = binding;
  const sorted = Object.entries(filters).sort(([a], [b]) => (a < b ? -1 : 1));
  const context = JSON.stringify(['cursor', tenantId, endpoint, sorted]);
  // The end of a JSON array is unambiguous.
  return hmac(key, `${context}${payload.toString('base64')}`).subarray(0, MAC_BYTES);
}
