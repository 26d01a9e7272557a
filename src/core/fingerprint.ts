import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

/** `unknown_key`: made under a key that this process does not have, so it cannot tell. */
export type Comparison = 'same' | 'other' | 'unknown_key';

/** Tells whether two requests under one idempotency key are the same request. */
export interface Fingerprint {
  /** Which secret made the digest; stored beside it, so that a rotation never turns a retry into a 409. */
  readonly keyId: string;
  readonly digest: Buffer;
  /** Whether the stored fingerprint was made from the same content, under whichever key it was made. */
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

/** The keys that sign or fingerprint: the first makes new ones, all are kept for comparing. */
export type Keyring = readonly [SecretKey, ...SecretKey[]];

export const KEYRINGS = ['FINGERPRINT_KEYS', 'CURSOR_KEYS', 'ENCRYPTION_KEYS'] as const;
export type KeyringName = (typeof KEYRINGS)[number];

/**
 * Something was made under a key that this process does not have: another process has it already, while keys are being
 * rolled. Nothing is wrong with what was made, so it is tried again. (docs/operations.md, Keys)
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

/** Stands for a key where there is no secret. No key of a keyring may be called so. */
export const PLAIN_KEY_ID = 'sha256';

/** The fingerprint of a client's request: an HMAC, since bodies hold what must not be guessed from a dump. */
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

/** The fingerprint of a command of our own, which holds nothing secret. */
export function commandFingerprint(content: readonly string[]): Fingerprint {
  const digest = createHash('sha256').update(JSON.stringify(content)).digest();
  return {
    keyId: PLAIN_KEY_ID,
    digest,
    compare: (keyId, stored) => (keyId === PLAIN_KEY_ID ? compared(digest, stored) : 'other'),
  };
}
