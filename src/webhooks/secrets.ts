import { SealedSecrets } from '../access/sealed-secrets.js';
import type { Keyring } from '../core/fingerprint.js';
import type { Uuid } from '../core/ids.js';
import type { Instant } from '../core/instant.js';
import { reseal, seal, unseal } from '../core/secret-box.js';
import { type WebhookEndpoint, webhookEndpoints } from '../db/entities/webhooks.js';

/** Signing secrets at rest. (docs/contract.md, Secrets and personal data) */

type SealedSecret = Pick<WebhookEndpoint, 'secret' | 'secretKeyId'>;

/**
 * A sealed secret can be opened only together with its endpoint, as the current or the previous
 * one.
 */
function sealContext(endpointId: Uuid): string {
  return `webhook_endpoints/${endpointId}`;
}

export function sealSecret(keys: Keyring, endpointId: Uuid, secret: string): SealedSecret {
  const sealed = seal(keys, secret, sealContext(endpointId));
  return { secret: sealed.bytes, secretKeyId: sealed.keyId };
}

interface OpenSecrets {
  readonly secret: string;
  /** The secret before the last rotation while it is in force, otherwise null. */
  readonly previousSecret: string | null;
}

/** Opened secrets, kept as long as the row that they were read with. */
const opened = new WeakMap<
  Buffer,
  { readonly keys: Keyring; readonly context: string; readonly text: string }
>();

function opensTo(keys: Keyring, keyId: string, bytes: Buffer, context: string): string {
  const known = opened.get(bytes);
  if (known?.keys === keys && known.context === context) return known.text;
  const text = unseal(keys, { keyId, bytes }, context);
  opened.set(bytes, { keys, context, text });
  return text;
}

/** Throws UnknownKey. */
export function openSecrets(keys: Keyring, endpoint: WebhookEndpoint, now: Instant): OpenSecrets {
  const context = sealContext(endpoint.id);
  const { previousSecret, previousSecretKeyId, previousUntil } = endpoint;
  const isInForce = previousUntil !== null && now < previousUntil;
  return {
    secret: opensTo(keys, endpoint.secretKeyId, endpoint.secret, context),
    previousSecret:
      isInForce && previousSecret !== null && previousSecretKeyId !== null
        ? opensTo(keys, previousSecretKeyId, previousSecret, context)
        : null,
  };
}

export const WEBHOOK_SECRETS = new SealedSecrets({
  what: 'webhook secrets',
  counted: 'webhook_endpoints',
  table: webhookEndpoints,
  id: 'id',
  keyIds: ['secretKeyId', 'previousSecretKeyId'],
  reseal: resealed,
});

function resealed(keys: Keyring, endpoint: WebhookEndpoint): Partial<WebhookEndpoint> {
  const context = sealContext(endpoint.id);
  const present = reseal(keys, { keyId: endpoint.secretKeyId, bytes: endpoint.secret }, context);
  const set = { secret: present.bytes, secretKeyId: present.keyId };
  const { previousSecret, previousSecretKeyId } = endpoint;
  if (previousSecret === null || previousSecretKeyId === null) return set;
  const previous = reseal(keys, { keyId: previousSecretKeyId, bytes: previousSecret }, context);
  return { ...set, previousSecret: previous.bytes, previousSecretKeyId: previous.keyId };
}
