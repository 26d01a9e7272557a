import { Secret, TOTP } from 'otpauth';
import { SealedSecrets } from '../access/sealed-secrets.js';
import type { Keyring } from '../core/fingerprint.js';
import type { Uuid } from '../core/ids.js';
import type { Instant } from '../core/instant.js';
import { reseal, type Sealed, seal, unseal } from '../core/secret-box.js';
import { staff } from '../db/entities/staff.js';

/** RFC 6238: six digits, 30 seconds, and SHA-1, which every app supports. */

const ISSUER = 'Money Movement';
export const STEP_MS = 30_000;
/**
 * Codes of the previous and the next step are valid too, because clocks differ and typing takes
 * time.
 */
const WINDOW_STEPS = 1;
/** As RFC 4226 recommends. */
const SECRET_BYTES = 20;
export const CODE_PATTERN = /^[0-9]{6}$/;

export interface NewFactor {
  readonly sealed: Sealed;
  /** Shown once, as a QR code that the app reads. */
  readonly url: string;
  readonly secret: string;
}

export function newFactor(
  keys: Keyring,
  { id, name }: { readonly id: Uuid; readonly name: string },
): NewFactor {
  const secret = new Secret({ size: SECRET_BYTES });
  const url = new TOTP({ issuer: ISSUER, label: name, secret }).toString();
  return { sealed: seal(keys, secret.base32, sealContext(id)), url, secret: secret.base32 };
}

/** Returns the clock step near the instant that has this code, or null. */
export function findCodeStep(
  keys: Keyring,
  id: Uuid,
  factor: Sealed,
  code: string,
  at: Instant,
): bigint | null {
  const totp = new TOTP({ secret: Secret.fromBase32(unseal(keys, factor, sealContext(id))) });
  const delta = totp.validate({ token: code, timestamp: at, window: WINDOW_STEPS });
  return delta === null ? null : BigInt(Math.floor(at / STEP_MS) + delta);
}

export function codeAt(secret: string, at: Instant): string {
  return new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: at });
}

export const AUTHENTICATORS = new SealedSecrets({
  label: 'authenticators of the staff',
  auditName: 'authenticators',
  table: staff,
  id: 'id',
  keyIds: ['factorKeyId'],
  reseal: (keys, { id, factorKeyId: keyId, factorSecret: bytes }) => {
    // The authenticator was removed after the row was read.
    if (keyId === null || bytes === null) return { factorKeyId: keyId };
    const sealed = reseal(keys, { keyId, bytes }, sealContext(id));
    return { factorSecret: sealed.bytes, factorKeyId: sealed.keyId };
  },
});

function sealContext(id: Uuid): string {
  return `staff/${id}/factor`;
}
