import { hmac, type Keyring, sameBytes, type SecretKey } from '../../core/fingerprint.js';
import type { Instant } from '../../core/instant.js';

/** Signatures of messages between the service and a gateway. (docs/payout-rail.md) */

const KEY_ID_HEADER = 'rail-key-id';
export const TIMESTAMP_HEADER = 'rail-timestamp';
const SIGNATURE_HEADER = 'rail-signature';

/** How far a message's timestamp may differ from our clock, in either direction. */
export const WINDOW_S = 300;

export interface SignedMessage {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body: Buffer;
}

export type RailHeaders = Readonly<Record<string, string>>;

export function railHeaders(key: SecretKey, message: SignedMessage, now: Instant): RailHeaders {
  const timestamp = Math.floor(now / 1_000).toString();
  return {
    [KEY_ID_HEADER]: key.id,
    [TIMESTAMP_HEADER]: timestamp,
    [SIGNATURE_HEADER]: signature(key, message, timestamp).toString('hex'),
  };
}

/** `late`: signed with a shared key, but more than WINDOW_S ago or ahead. */
export type Verdict = 'genuine' | 'forged' | 'late';

/** Verifies the signature in constant time. Names in `headers` are in lower case. */
export function verify(
  keys: Keyring,
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
  message: SignedMessage,
  now: Instant,
): Verdict {
  const [keyId, timestamp, given] = [KEY_ID_HEADER, TIMESTAMP_HEADER, SIGNATURE_HEADER].map(
    (name) => headers[name],
  );
  if (typeof timestamp !== 'string' || !/^[1-9][0-9]{0,11}$/.test(timestamp)) return 'forged';
  if (typeof given !== 'string' || !/^[0-9a-f]{64}$/.test(given)) return 'forged';
  const key = keys.find(({ id }) => id === keyId);
  if (
    key === undefined ||
    !sameBytes(signature(key, message, timestamp), Buffer.from(given, 'hex'))
  )
    return 'forged';
  const awayS = Math.abs(now / 1_000 - Number.parseInt(timestamp, 10));
  return awayS <= WINDOW_S ? 'genuine' : 'late';
}

function signature(
  key: SecretKey,
  { method, path, body }: SignedMessage,
  timestamp: string,
): Buffer {
  // None of the three contains a line break, so the parts cannot run together.
  return hmac(key, Buffer.concat([Buffer.from(`${timestamp}\n${method}\n${path}\n`), body]));
}
