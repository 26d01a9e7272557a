import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

/** Tells whether two requests under one idempotency key are the same request. */
export interface Fingerprint {
  /** Which secret made the digest; stored beside it, so that a rotation never turns a retry into a 409. */
  readonly keyId: string;
  readonly digest: Buffer;
  /** True when the stored fingerprint was made from the same content, under whichever key it was made. */
  matches(keyId: string, digest: Buffer): boolean;
}

export interface SecretKey {
  readonly id: string;
  readonly secret: Buffer;
}

/** The keys that sign or fingerprint: the first makes new ones, all are kept for comparing. */
export type Keyring = readonly [SecretKey, ...SecretKey[]];

export function hmac(key: SecretKey, content: string | Buffer): Buffer {
  return createHmac('sha256', key.secret).update(content).digest();
}

export function sameBytes(a: Buffer, b: Buffer): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}

/** The fingerprint of a client's request: an HMAC, since bodies hold what must not be guessed from a dump. */
export function requestFingerprint(keys: Keyring, content: string): Fingerprint {
  const [current] = keys;
  const digest = hmac(current, content);
  return {
    keyId: current.id,
    digest,
    matches: (keyId, stored) => {
      if (keyId === current.id) return sameBytes(digest, stored);
      const key = keys.find((one) => one.id === keyId);
      return key !== undefined && sameBytes(hmac(key, content), stored);
    },
  };
}

const PLAIN = 'sha256';

/** The fingerprint of a command of our own, which holds nothing secret. */
export function commandFingerprint(content: readonly string[]): Fingerprint {
  const digest = createHash(PLAIN).update(JSON.stringify(content)).digest();
  return { keyId: PLAIN, digest, matches: (keyId, stored) => keyId === PLAIN && sameBytes(digest, stored) };
}
