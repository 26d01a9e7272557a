import { hash, randomBytes } from 'node:crypto';

/** The text of a token: `svc_live_<key id>_<secret>`. (docs/contract.md, Tokens) */

const PATTERN = /^svc_live_([a-z2-7]{16})_[a-z2-7]{40}$/;
/** Thirty-two letters: each takes exactly five bits of a random byte. */
const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';
const KEY_ID_LETTERS = 16;
const SECRET_LETTERS = 40;

interface GeneratedToken {
  readonly keyId: string;
  /** Shown once, never stored. */
  readonly text: string;
}

export function generateToken(): GeneratedToken {
  const keyId = randomLetters(KEY_ID_LETTERS);
  return { keyId, text: `svc_live_${keyId}_${randomLetters(SECRET_LETTERS)}` };
}

/** Returns null if the text does not have the form of a live token. */
export function keyIdOf(text: string): string | null {
  return PATTERN.exec(text)?.[1] ?? null;
}

/** The secret is random, so a plain hash cannot be reversed by guessing. */
export function hashToken(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}

function randomLetters(count: number): string {
  return Array.from(randomBytes(count), (byte) => ALPHABET.charAt(byte & 31)).join('');
}
