import { createHmac, randomBytes } from 'node:crypto';
import { SealedSecrets } from '../access/sealed-secrets.js';
import type { Keyring } from '../core/fingerprint.js';
import type { Uuid } from '../core/ids.js';
import type { Instant } from '../core/instant.js';
import { reseal, seal, unseal } from '../core/secret-box.js';
import { type WebhookEndpoint, webhookEndpoints } from '../db/entities/webhooks.js';

/** How a delivery is signed. (docs/contract.md, Webhook signature) */

const SECRET_PREFIX = 'whsec_';
/** 192 bits, the minimum of Standard Webhooks. */
const SECRET_BYTES = 24;
const SECRET = /^whsec_(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

interface Signable {
  readonly id: string;
  readonly body: Buffer;
  readonly secret: string;
  readonly previousSecret: string | null;
  readonly timestampS: number;
}

/** Returns a new secret, which is shown once and stored encrypted. */
export function newSecret(): string {
  return SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64');
}

export function isSecret(text: string): boolean {
  return SECRET.test(text) && text.length > SECRET_PREFIX.length;
}

/** Returns the signature headers. Throws TypeError if a secret is not valid. */
export function signatureHeaders(signable: Signable): Record<string, string> {
  const { id, body, secret, previousSecret, timestampS } = signable;
  const secrets = previousSecret === null ? [secret] : [secret, previousSecret];
  const headers: Record<string, string> = {
    'Svc-Signature': bodySignature(body, secret),
    'webhook-id': id,
    'webhook-timestamp': timestampS.toString(),
    'webhook-signature': secrets
      .map((key) => `v1,${standardSignature(id, timestampS.toString(), body, key)}`)
      .join(' '),
  };
  if (previousSecret !== null)
    headers['Svc-Signature-Previous'] = bodySignature(body, previousSecret);
  return headers;
}

/** Returns the HMAC-SHA256 of the body in lowercase hexadecimal, keyed with the secret as shown. */
export function bodySignature(body: Buffer, secret: string): string {
  return createHmac('sha256', secret).update(body).digest('hex');
}

/** Returns the base64 HMAC-SHA256 of Standard Webhooks v1, keyed with the decoded secret. */
export function standardSignature(
  id: string,
  timestamp: string,
  body: Buffer,
  secret: string,
): string {
  if (!isSecret(secret)) throw new TypeError('not a webhook secret');
  const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');
  return createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64');
}

/** Signing secrets at rest. (docs/contract.md, Secrets and personal data) */

type SealedSecret = Pick<WebhookEndpoint, 'secret' | 'secretKeyId'>;

/** Binds a sealed secret to its endpoint: it can be decrypted only with the same id. */
function sealContext(endpointId: Uuid): string {
  return `webhook_endpoints/${endpointId}`;
}

export function sealSecret(keys: Keyring, endpointId: Uuid, secret: string): SealedSecret {
  const sealed = seal(keys, secret, sealContext(endpointId));
  return { secret: sealed.bytes, secretKeyId: sealed.keyId };
}

/** Decrypts the secrets. `previousSecret` is null once it no longer signs. Throws UnknownKey. */
export function openSecrets(keys: Keyring, endpoint: WebhookEndpoint, now: Instant) {
  const context = sealContext(endpoint.id);
  const { previousSecret, previousSecretKeyId, previousUntil } = endpoint;
  const isPreviousValid = previousUntil !== null && now < previousUntil;
  return {
    secret: unseal(keys, { keyId: endpoint.secretKeyId, bytes: endpoint.secret }, context),
    previousSecret:
      isPreviousValid && previousSecret !== null && previousSecretKeyId !== null
        ? unseal(keys, { keyId: previousSecretKeyId, bytes: previousSecret }, context)
        : null,
  };
}

export const WEBHOOK_SECRETS = new SealedSecrets({
  label: 'webhook secrets',
  auditName: 'webhook_endpoints',
  table: webhookEndpoints,
  id: 'id',
  keyIds: ['secretKeyId', 'previousSecretKeyId'],
  reseal: resealSecrets,
});

function resealSecrets(keys: Keyring, endpoint: WebhookEndpoint): Partial<WebhookEndpoint> {
  const context = sealContext(endpoint.id);
  const current = reseal(keys, { keyId: endpoint.secretKeyId, bytes: endpoint.secret }, context);
  const set = { secret: current.bytes, secretKeyId: current.keyId };
  const { previousSecret, previousSecretKeyId } = endpoint;
  if (previousSecret === null || previousSecretKeyId === null) return set;
  const previous = reseal(keys, { keyId: previousSecretKeyId, bytes: previousSecret }, context);
  return { ...set, previousSecret: previous.bytes, previousSecretKeyId: previous.keyId };
}
