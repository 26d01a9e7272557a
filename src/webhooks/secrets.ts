import { SealedSecrets } from '../access/sealed-secrets.js';
import type { Keyring } from '../core/fingerprint.js';
import type { Uuid } from '../core/ids.js';
import type { Instant } from '../core/instant.js';
import { reseal, seal, unseal } from '../core/secret-box.js';
import { type WebhookEndpoint, webhookEndpoints } from '../db/entities/webhooks.js';

/** Signing secrets at rest. (docs/contract.md, Secrets and personal data) */

type SealedSecret = Pick<WebhookEndpoint, 'secret' | 'secretKeyId'>;

/** A sealed secret opens only together with its endpoint. */
function sealContext(endpointId: Uuid): string {
  return `webhook_endpoints/${endpointId}`;
}

export function sealSecret(keys: Keyring, endpointId: Uuid, secret: string): SealedSecret {
  const sealed = seal(keys, secret, sealContext(endpointId));
  return { secret: sealed.bytes, secretKeyId: sealed.keyId };
}

/** `previousSecret` is null once it is no longer in force. Throws UnknownKey. */
export function openSecrets(keys: Keyring, endpoint: WebhookEndpoint, now: Instant) {
  const context = sealContext(endpoint.id);
  const { previousSecret, previousSecretKeyId, previousUntil } = endpoint;
  const isInForce = previousUntil !== null && now < previousUntil;
  return {
    secret: unseal(keys, { keyId: endpoint.secretKeyId, bytes: endpoint.secret }, context),
    previousSecret:
      isInForce && previousSecret !== null && previousSecretKeyId !== null
        ? unseal(keys, { keyId: previousSecretKeyId, bytes: previousSecret }, context)
        : null,
  };
}

export const WEBHOOK_SECRETS = new SealedSecrets({
  what: 'webhook secrets',
  counted: 'webhook_endpoints',
  table: webhookEndpoints,
  id: 'id',
  keyIds: ['secretKeyId', 'previousSecretKeyId'],
  reseal: resealSecrets,
});

function resealSecrets(keys: Keyring, endpoint: WebhookEndpoint): Partial<WebhookEndpoint> {
  const context = sealContext(endpoint.id);
  const present = reseal(keys, { keyId: endpoint.secretKeyId, bytes: endpoint.secret }, context);
  const set = { secret: present.bytes, secretKeyId: present.keyId };
  const { previousSecret, previousSecretKeyId } = endpoint;
  if (previousSecret === null || previousSecretKeyId === null) return set;
  const previous = reseal(keys, { keyId: previousSecretKeyId, bytes: previousSecret }, context);
  return { ...set, previousSecret: previous.bytes, previousSecretKeyId: previous.keyId };
}
