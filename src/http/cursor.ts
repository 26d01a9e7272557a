import { ApiError, invalidField } from '../core/errors.js';
import { hmac, type Keyring, type SecretKey, UnknownKey } from '../core/fingerprint.js';
import { asUuid, type Uuid } from '../core/ids.js';
import { instant } from '../core/instant.js';
import type { Page, TimePosition } from '../core/page.js';
import { seal, type Sealed, unseal } from '../core/secret-box.js';

export interface CursorBinding {
  readonly tenantId: Uuid;
  readonly endpoint: string;
  readonly filters: Readonly<Record<string, unknown>>;
}

const BASE64URL = /^[A-Za-z0-9_-]+$/;
const MAX_LENGTH = 1024;
const KEY_ID = /^[A-Za-z0-9_-]{1,32}$/;
const COLON = ':'.charCodeAt(0);

/**
 * Makes and reads opaque page cursors. (docs/contract.md, Collections) The bytes: the length of the
 * key id, the key id, a colon, and the position, sealed with tenant, endpoint and filters.
 */
export class Cursors {
  private readonly keys: Keyring;

  constructor([first, ...rest]: Keyring) {
    this.keys = [sealingKey(first), ...rest.map(sealingKey)];
  }

  encode(binding: CursorBinding, position: readonly string[]): string {
    const { keyId, bytes } = seal(this.keys, JSON.stringify(position), contextOf(binding));
    const id = Buffer.from(`${keyId}:`, 'ascii');
    return Buffer.concat([Buffer.of(keyId.length), id, bytes]).toString('base64url');
  }

  /**
   * Throws invalid_field for a cursor of another list, UnknownKey if this process lacks the key.
   */
  decode(binding: CursorBinding, cursor: string): readonly string[] {
    const sealed = readParts(cursor);
    if (sealed === null) throw cursorRefusal();
    const context = contextOf(binding);
    // Tries every key, so that a cursor with a forged key id does not pass for one of a new key.
    for (const key of this.keys) {
      const position = tryUnseal(key, sealed, context);
      if (position === null) continue;
      if (sealed.keyId !== key.id) throw cursorRefusal();
      // The seal proves that `encode` wrote this text.
      return JSON.parse(position) as string[];
    }
    const isForeign = this.keys.every((key) => key.id !== sealed.keyId);
    throw isForeign ? new UnknownKey('CURSOR_KEYS', sealed.keyId) : cursorRefusal();
  }
}

/** Derives a key of the length that the cipher needs. */
function sealingKey(key: SecretKey): SecretKey {
  return { id: key.id, secret: hmac(key, 'the encryption of cursors') };
}

function tryUnseal(key: SecretKey, { bytes }: Sealed, context: string): string | null {
  try {
    return unseal([key], { keyId: key.id, bytes }, context);
  } catch {
    return null;
  }
}

/** Returns null unless the text is the canonical encoding of a cursor's parts. */
function readParts(cursor: string): Sealed | null {
  if (cursor.length > MAX_LENGTH || !BASE64URL.test(cursor)) return null;
  const bytes = Buffer.from(cursor, 'base64url');
  if (bytes.toString('base64url') !== cursor) return null;
  const [length = 0] = bytes;
  const keyId = bytes.toString('latin1', 1, 1 + length);
  return KEY_ID.test(keyId) && bytes[1 + length] === COLON
    ? { keyId, bytes: bytes.subarray(2 + length) }
    : null;
}

interface PageRequest extends BoundRequest {
  readonly query: { readonly cursor?: string | undefined; readonly limit: number };
}

/** Responds with a page of a list, newest first. Throws what `Cursors.decode` throws. */
export async function respondWithPage<Item>(
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

/**
 * Responds with a page of a list that is ordered by a number. `next` continues the list; `mark` is
 * kept with it in the cursor.
 */
export async function respondWithNumberedPage<More extends object>(
  cursors: Cursors,
  request: PageRequest,
  read: (
    after: bigint | null,
    limit: number,
    mark: string | undefined,
  ) => Promise<
    { readonly items: readonly unknown[]; readonly next: bigint | null; mark?: string } & More
  >,
): Promise<{ readonly status: 200; readonly body: object }> {
  const binding = cursorBinding(request);
  const { cursor, limit } = request.query;
  const [position, mark] = cursor === undefined ? [] : cursors.decode(binding, cursor);
  const after = position === undefined ? null : BigInt(position);
  const { items, next, mark: nextMark, ...more } = await read(after, limit, mark);
  const nextCursor =
    next === null
      ? null
      : cursors.encode(binding, [next.toString(), ...(nextMark === undefined ? [] : [nextMark])]);
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

function contextOf({ tenantId, endpoint, filters }: CursorBinding): string {
  const sorted = Object.entries(filters).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify(['cursor', tenantId, endpoint, sorted]);
}
