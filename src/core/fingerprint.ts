import {
  createHash,
  createHmac,
  createSecretKey,
  type KeyObject,
  timingSafeEqual,
} from 'node:crypto';

/** `unknown_key`: this process lacks the key that made the fingerprint. */
export type Comparison = 'same' | 'other' | 'unknown_key';

/** Shows whether two requests with one idempotency key are the same request. */
export interface Fingerprint {
  /** Stored with the digest, so that a retry after a rotation of keys is still recognised. */
  readonly keyId: string;
  readonly digest: Buffer;
  /** Compares with a stored fingerprint, whichever key made it. */
  compare(keyId: string, digest: Buffer): Comparison;
}

export interface RequestKey {
  readonly key: string;
  readonly fingerprint: Fingerprint;
}

export interface SecretKey {
  readonly id: string;
  readonly secret: Buffer;
}

/** The first key makes new values; all keys verify. */
export type Keyring = readonly [SecretKey, ...SecretKey[]];

export const KEYRINGS = ['FINGERPRINT_KEYS', 'CURSOR_KEYS', 'ENCRYPTION_KEYS'] as const;
export type KeyringName = (typeof KEYRINGS)[number];

/**
 * Thrown for a valid value made with a key that this process does not have yet, because keys are
 * being rotated. The caller retries. (docs/operations/install.md, Keys)
 */
export class UnknownKey extends Error {
  override name = 'UnknownKey';

  constructor(keyring: KeyringName, keyId: string) {
    super(`${keyring} has no key ${keyId} in this process`);
  }
}

/** On Node 24, an HMAC with the bytes of a key takes five times as long as with a key object. */
const keyObjects = new WeakMap<Buffer, KeyObject>();

export function hmac({ secret }: SecretKey, content: string | Buffer): Buffer {
  let key = keyObjects.get(secret);
  if (key === undefined) keyObjects.set(secret, (key = createSecretKey(secret)));
  return createHmac('sha256', key).update(content).digest();
}

export function sameBytes(a: Buffer, b: Buffer): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}

/** Key id of fingerprints that are made without a key. No key of a keyring may have it. */
export const PLAIN_KEY_ID = 'sha256';

/** Returns an HMAC of the content, so that bodies cannot be guessed from a dump. */
export function requestFingerprint(keys: Keyring, content: string): Fingerprint {
  const [current] = keys;
  const digest = hmac(current, content);
  return {
    keyId: current.id,
    digest,
    compare: (keyId, stored) => {
      const key = keys.find((one) => one.id === keyId);
      if (key === undefined) return keyId === PLAIN_KEY_ID ? 'other' : 'unknown_key';
      return compareDigests(key === current ? digest : hmac(key, content), stored);
    },
  };
}

function compareDigests(one: Buffer, other: Buffer): Comparison {
  return sameBytes(one, other) ? 'same' : 'other';
}

/** Returns a hash without a key, for commands of the service itself, which contain no secret. */
export function commandFingerprint(content: readonly string[]): Fingerprint {
  const digest = createHash('sha256').update(JSON.stringify(content)).digest();
  return {
    keyId: PLAIN_KEY_ID,
    digest,
    compare: (keyId, stored) => (keyId === PLAIN_KEY_ID ? compareDigests(digest, stored) : 'other'),
  };
}
