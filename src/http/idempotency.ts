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

/** Throws `missing_idempotency_key`, or `invalid_field` if it is not a UUID or given twice. */
export function readIdempotencyKey(request: IncomingMessage, repeated: ReadonlySet<SingleHeader>): Uuid {
  if (repeated.has(HEADER)) throw new ApiError(invalidField(HEADER, 'repeated'));
  const text = headerText(request, 'idempotency-key');
  if (text === undefined) throw new ApiError(MISSING);
  const key = parseUuid(text);
  if (key === null) throw new ApiError(invalidField(HEADER, 'not_a_uuid'));
  return key;
}

interface FingerprintContent {
  readonly method: string;
  readonly path: string;
  /** The canonical form of what was sent. */
  readonly body: string;
  /** Set if another member's request with the same key is a different request. */
  readonly memberId: Uuid | null;
}

/** (docs/contract.md, Idempotency) */
export function fingerprintOf(keys: Keyring, content: FingerprintContent): Fingerprint {
  const { method, path, body, memberId } = content;
  // Neither a method nor a path contains a line break, so the parts cannot run together.
  return requestFingerprint(keys, `${method}\n${path}\n${memberId ?? ''}\n${body}`);
}
