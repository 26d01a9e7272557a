import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { type Keyring, UnknownKey } from './fingerprint.js';

const IV_BYTES = 12;
const TAG_BYTES = 16;
export const SECRET_KEY_BYTES = 32;

/** Text encrypted with AES-256-GCM. */
export interface Sealed {
  readonly keyId: string;
  /** Nonce, tag, ciphertext. */
  readonly bytes: Buffer;
}

/** Encrypts with the first key. The text can be decrypted only with the same `context`. */
export function seal(keys: Keyring, text: string, context: string): Sealed {
  const [key] = keys;
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key.secret, iv).setAAD(Buffer.from(context));
  const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return { keyId: key.id, bytes: Buffer.concat([iv, cipher.getAuthTag(), body]) };
}

export function reseal(keys: Keyring, sealed: Sealed, context: string): Sealed {
  return seal(keys, unseal(keys, sealed, context), context);
}

/** Throws UnknownKey, or another error if the bytes or the context differ. */
export function unseal(keys: Keyring, { keyId, bytes }: Sealed, context: string): string {
  const key = keys.find((one) => one.id === keyId);
  if (key === undefined) throw new UnknownKey('ENCRYPTION_KEYS', keyId);
  const decipher = createDecipheriv('aes-256-gcm', key.secret, bytes.subarray(0, IV_BYTES))
    .setAAD(Buffer.from(context))
    .setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
  return (
    decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES), undefined, 'utf8') +
    decipher.final('utf8')
  );
}
