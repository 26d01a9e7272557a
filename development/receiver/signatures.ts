import { timingSafeEqual } from 'node:crypto';
import { bodySignature, standardSignature } from '../../src/webhooks/signing.js';

/**
 * How a receiver checks what src/webhooks/signing.ts signs. (docs/contract.md, Webhook signature)
 */

/** How far a receiver's clock may be from ours, as Standard Webhooks has it. */
const TIMESTAMP_TOLERANCE_S = 300;

/** Result of checking one of the two signatures. */
export interface SignatureCheck {
  readonly header: 'Svc-Signature' | 'webhook-signature';
  /** The fault, in words, or null if the signature is valid. */
  readonly problem: string | null;
}

interface Received {
  /** The bytes as they arrived. */
  readonly body: Buffer;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
}

/**
 * Checks both signatures with the secret that a receiver has, which during a rotation may be the
 * new or the old one.
 */
export function verifySignatures(
  received: Received,
  secret: string,
  nowS: number,
): readonly SignatureCheck[] {
  return [
    { header: 'Svc-Signature', problem: bodySignatureProblem(received, secret) },
    { header: 'webhook-signature', problem: standardSignatureProblem(received, secret, nowS) },
  ];
}

function bodySignatureProblem({ body, headers }: Received, secret: string): string | null {
  const current = headers['svc-signature'];
  if (current === undefined) return 'is missing';
  const expected = bodySignature(body, secret);
  const isGood = [current, headers['svc-signature-previous'] ?? ''].some((given) =>
    isSame(given, expected),
  );
  return isGood ? null : 'does not fit the body and this secret';
}

function standardSignatureProblem(
  { body, headers }: Received,
  secret: string,
  nowS: number,
): string | null {
  const {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures,
  } = headers;
  if (signatures === undefined) return 'is missing';
  if (id === undefined) return 'lacks webhook-id';
  if (timestamp === undefined || !/^\d{1,12}$/.test(timestamp))
    return 'lacks a whole webhook-timestamp';
  const expected = `v1,${standardSignature(id, timestamp, body, secret)}`;
  if (!signatures.split(' ').some((given) => isSame(given, expected)))
    return 'does not fit webhook-id, webhook-timestamp, the body and this secret';
  const awayS = Math.abs(nowS - Number.parseInt(timestamp, 10));
  return awayS <= TIMESTAMP_TOLERANCE_S ? null : `was made ${awayS} s away from this clock`;
}

/** In constant time for texts of one length; the length of a signature is not a secret. */
function isSame(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}
