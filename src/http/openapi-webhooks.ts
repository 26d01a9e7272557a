import type { RouteConfig } from '@asteasolutions/zod-to-openapi';
import type { ApiEvent } from './api.js';

/** (docs/contract.md, Webhook signature) */
const SIGNATURE_HEADERS = Object.entries({
  'Svc-Signature':
    'HMAC-SHA256 of the raw body in lowercase hexadecimal, keyed with the secret as shown.',
  'Svc-Signature-Previous': 'The same with the previous secret, for 24 hours after a rotation.',
  'webhook-id': "Standard Webhooks: the event's id, the same on every attempt.",
  'webhook-timestamp': 'Standard Webhooks: the time of this attempt, in Unix seconds.',
  'webhook-signature':
    'Standard Webhooks: `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`; two of them after a rotation.',
}).map(([name, description]) => ({
  name,
  in: 'header' as const,
  required: name !== 'Svc-Signature-Previous',
  description,
  schema: { type: 'string' as const },
}));

export function webhookOf(event: ApiEvent): RouteConfig {
  const { type, schema, example, summary, description, isSubscribable } = event;
  return {
    method: 'post',
    path: type,
    operationId: `receive${type.replace(/(?:^|[._])(\w)/g, (_, letter: string) => letter.toUpperCase())}`,
    tags: ['Events'],
    summary,
    description,
    security: [],
    'x-subscribable': isSubscribable,
    // Generators treat components without an operation as unused.
    parameters: SIGNATURE_HEADERS,
    request: {
      body: { required: true, content: { 'application/json': { schema, example } } },
    },
    responses: {
      '2XX': {
        description: 'Delivered. Only the status counts; it must arrive within 10 seconds.',
      },
      '410': { description: 'Disables the endpoint.' },
      default: {
        description:
          'The delivery is tried again; after 429 or 503 with `Retry-After`, not before then.',
      },
    },
  };
}
