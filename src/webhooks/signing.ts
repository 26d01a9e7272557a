import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** How a delivery is signed, and how a receiver checks it. (docs/contract.md, Webhook signature) */

const SECRET_PREFIX = 'whsec_';
/** 192 bits: the minimum of Standard Webhooks, and base64 without padding. */
const SECRET_BYTES = 24;
const SECRET = /^whsec_(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
/** How far a receiver's clock may differ from ours, according to Standard Webhooks. */
const TIMESTAMP_TOLERANCE_S = 300;

export interface Signable {
  /** The event's id: the same for every attempt. */
  readonly id: string;
  readonly body: Buffer;
  /** As shown to the tenant: `whsec_…`. */
  readonly secret: string;
  /** The previous one, while it is still in force. */
  readonly previousSecret: string | null;
  /** The time of this attempt, in Unix seconds. */
  readonly timestampS: number;
}

/** A new signing secret. Anybody who has it can sign like us, so it is shown once and stored sealed. */
export function newSecret(): string {
  return SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64');
}

export function isSecret(text: string): boolean {
  return SECRET.test(text) && text.length > SECRET_PREFIX.length;
}

/** The headers that prove who sent the body. Throws TypeError if a secret is not one of ours. */
export function signatureHeaders(signable: Signable): Record<string, string> {
  const { id, body, secret, previousSecret, timestampS } = signable;
  const secrets = previousSecret === null ? [secret] : [secret, previousSecret];
  const headers: Record<string, string> = {
    'Svc-Signature': bodySignature(body, secret),
    'webhook-id': id,
    'webhook-timestamp': timestampS.toString(),
    'webhook-signature': secrets
      .map((one) => `v1,${standardSignature(id, timestampS.toString(), body, one)}`)
      .join(' '),
  };
  if (previousSecret !== null) headers['Svc-Signature-Previous'] = bodySignature(body, previousSecret);
  return headers;
}

/** Lowercase hexadecimal HMAC-SHA256 of the body, keyed with the secret's characters as shown. */
function bodySignature(body: Buffer, secret: string): string {
  return createHmac('sha256', secret).update(body).digest('hex');
}

/** Standard Webhooks v1: base64 of HMAC-SHA256 over `id.timestamp.body`, keyed with the bytes after the prefix. */
function standardSignature(id: string, timestamp: string, body: Buffer, secret: string): string {
  if (!isSecret(secret)) throw new TypeError('not a webhook secret');
  const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');
  return createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64');
}

export type SignatureHeader = 'Svc-Signature' | 'webhook-signature';

/** The result of checking one of the two signatures. */
export interface SignatureCheck {
  readonly header: SignatureHeader;
  /** What is wrong with it, in words, or null if it is valid. */
  readonly problem: string | null;
}

export interface Received {
  /** The bytes as received. */
  readonly body: Buffer;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
}

/** Checks both signatures with the one secret that a receiver has, whether the new or the old one of a rotation. */
export function verifySignatures(received: Received, secret: string, nowS: number): readonly SignatureCheck[] {
  return [
    { header: 'Svc-Signature', problem: bodySignatureProblem(received, secret) },
    { header: 'webhook-signature', problem: standardSignatureProblem(received, secret, nowS) },
  ];
}

function bodySignatureProblem({ body, headers }: Received, secret: string): string | null {
  const current = headers['svc-signature'];
  if (current === undefined) return 'is missing';
  const expected = bodySignature(body, secret);
  const isGood = [current, headers['svc-signature-previous'] ?? ''].some((given) => isSame(given, expected));
  return isGood ? null : 'does not fit the body and this secret';
}

function standardSignatureProblem({ body, headers }: Received, secret: string, nowS: number): string | null {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures } = headers;
  if (signatures === undefined) return 'is missing';
  if (id === undefined) return 'lacks webhook-id';
  if (timestamp === undefined || !/^\d{1,12}$/.test(timestamp)) return 'lacks a whole webhook-timestamp';
  const expected = `v1,${standardSignature(id, timestamp, body, secret)}`;
  if (!signatures.split(' ').some((given) => isSame(given, expected)))
    return 'does not fit webhook-id, webhook-timestamp, the body and this secret';
  const awayS = Math.abs(nowS - Number.parseInt(timestamp, 10));
  return awayS <= TIMESTAMP_TOLERANCE_S ? null : `was made ${awayS} s away from this clock`;
}

/** In constant time for texts of equal length; the length of a signature is not secret. */
function isSame(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}
