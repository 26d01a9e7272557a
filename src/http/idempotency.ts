import type { IncomingMessage } from 'node:http';
import { ApiError, invalidField, type Refusal } from '../core/errors.js';
import { type Fingerprint, type Keyring, requestFingerprint } from '../core/fingerprint.js';
import { parseUuid, type Uuid } from '../core/ids.js';
import { headerText, type SingleHeader } from './headers.js';

const HEADER: SingleHeader = 'Idempotency-Key';

const MISSING: Refusal = {
  code: 'missing_idempotency_key',
  message: 'this operation needs an Idempotency-Key header: a new UUID for a new operation',
};

/**
 * Returns the key in lower case, from a UUID with or without quotation marks (the form of the IETF
 * draft). Throws `missing_idempotency_key`, or `invalid_field` if the header is not a UUID or was
 * sent twice.
 */
export function readIdempotencyKey(
  request: IncomingMessage,
  repeated: ReadonlySet<SingleHeader>,
): Uuid {
  if (repeated.has(HEADER)) throw new ApiError(invalidField(HEADER, 'repeated'));
  const text = headerText(request, 'idempotency-key');
  if (text === undefined) throw new ApiError(MISSING);
  const key = parseUuid(text.replace(/^"(.*)"$/, '$1'));
  if (key === null) throw new ApiError(invalidField(HEADER, 'not_a_uuid'));
  return key;
}

interface FingerprintContent {
  readonly method: string;
  readonly path: string;
  /** The canonical form of the validated body. */
  readonly body: string;
  /** Set if a request of another member with the same key is a different request. */
  readonly memberId: Uuid | null;
}

/**
 * Returns the text of a validated body: the fields of every object in alphabetical order, absent
 * fields omitted, and amounts as text. Two bodies that validation makes equal have the same text.
 */
export function canonicalBody(value: unknown): string {
  if (typeof value === 'bigint') return `"${value}"`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonicalBody).join(',')}]`;
  const fields = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${canonicalBody(field)}`).join(',')}}`;
}

/** Returns the fingerprint of a request. (docs/contract.md, Idempotency) */
export function fingerprintOf(keys: Keyring, content: FingerprintContent): Fingerprint {
  const { method, path, body, memberId } = content;
  // Neither a method nor a path contains a line break, so the parts cannot run together.
  return requestFingerprint(keys, `${method}\n${path}\n${memberId ?? ''}\n${body}`);
}
