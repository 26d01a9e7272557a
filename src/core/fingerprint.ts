import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

/** `unknown_key`: made with a key that this process does not have, so it cannot tell. */
export type Comparison = 'same' | 'other' | 'unknown_key';

/** Shows whether two requests with one idempotency key are the same request. */
export interface Fingerprint {
  /** The key that made the digest, stored with it so that a rotation never turns a retry into a 409. */
  readonly keyId: string;
  readonly digest: Buffer;
  /** Whether the stored fingerprint was made from the same content, with whichever key. */
  compare(keyId: string, digest: Buffer): Comparison;
}

/** What binds a repeated request to its first result. */
export interface Keyed {
  readonly key: string;
  readonly fingerprint: Fingerprint;
}

export interface SecretKey {
  readonly id: string;
  readonly secret: Buffer;
}

/** The keys that sign or fingerprint: the first is used for new values, all of them for comparing. */
export type Keyring = readonly [SecretKey, ...SecretKey[]];

export const KEYRINGS = ['FINGERPRINT_KEYS', 'CURSOR_KEYS', 'ENCRYPTION_KEYS'] as const;
export type KeyringName = (typeof KEYRINGS)[number];

/**
 * Something was made with a key that this process does not have, because another process already has it while keys are
 * being rotated. The value itself is fine, so it is tried again. (docs/operations.md, Keys)
 */
export class UnknownKey extends Error {
  override name = 'UnknownKey';

  constructor(keyring: KeyringName, keyId: string) {
    super(`${keyring} has no key ${keyId} in this process`);
  }
}

export function hmac(key: SecretKey, content: string | Buffer): Buffer {
  return createHmac('sha256', key.secret).update(content).digest();
}

export function sameBytes(a: Buffer, b: Buffer): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}

/** The key id where there is no secret. No key of a keyring may have this name. */
export const PLAIN_KEY_ID = 'sha256';

/** The fingerprint of a client's request: an HMAC, so that nobody can guess bodies from a dump. */
export function requestFingerprint(keys: Keyring, content: string): Fingerprint {
  const [current] = keys;
  const digest = hmac(current, content);
  return {
    keyId: current.id,
    digest,
    compare: (keyId, stored) => {
      const key = keys.find((one) => one.id === keyId);
      if (key === undefined) return keyId === PLAIN_KEY_ID ? 'other' : 'unknown_key';
      return compared(key === current ? digest : hmac(key, content), stored);
    },
  };
}

function compared(one: Buffer, other: Buffer): Comparison {
  return sameBytes(one, other) ? 'same' : 'other';
}

/** The fingerprint of one of our own commands, which contain nothing secret. */
export function commandFingerprint(content: readonly string[]): Fingerprint {
  const digest = createHash('sha256').update(JSON.stringify(content)).digest();
  return {
    keyId: PLAIN_KEY_ID,
    digest,
    compare: (keyId, stored) => (keyId === PLAIN_KEY_ID ? compared(digest, stored) : 'other'),
  };
}
