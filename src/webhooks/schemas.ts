import { toRfc3339 } from '../core/instant.js';
import { API_VERSIONS } from '../core/versions.js';
import { SUBSCRIBABLE_TYPES } from '../db/entities/events.js';
import {
  DELIVERY_CAUSES,
  DELIVERY_STATES,
  DISABLED_REASONS,
  type WebhookAttempt,
} from '../db/entities/webhooks.js';
import { EXAMPLE, exampled, exampledAs } from '../http/examples.js';
import {
  instantField,
  instantSchema,
  optional,
  PAGE_QUERY,
  pageSchema,
  uuidSchema,
} from '../http/schemas.js';
import { z } from '../http/zod.js';
import { MAX_URL_LENGTH } from './address-guard.js';
import type { ShownDelivery, ShownEndpoint } from './queries.js';
import type { Sending } from './sender.js';

export { EventSchema } from '../events/schemas.js';

/** Checked as far as it can be without DNS. Reasons: those of the address guard. */
function urlField(parse: Sending['parseUrl']) {
  return z
    .string()
    .transform((text, context): string => {
      const parsed = parse(text);
      if (parsed.ok) return text;
      context.addIssue(parsed.reason);
      return z.NEVER;
    })
    .openapi({
      format: 'uri',
      minLength: 1,
      maxLength: MAX_URL_LENGTH,
      description: 'https, without credentials or a fragment, on the public internet.',
    });
}

const typesField = z
  .array(z.enum(SUBSCRIBABLE_TYPES))
  .min(1)
  .max(SUBSCRIBABLE_TYPES.length)
  .transform((types) => SUBSCRIBABLE_TYPES.filter((type) => types.includes(type)))
  .openapi({ description: 'The types of events it receives.' });

/** Which addresses may be registered depends on the operators' list. */
export function registerEndpointBody(parseUrl: Sending['parseUrl']) {
  const body = z
    .strictObject({ url: urlField(parseUrl), events: typesField })
    .openapi('RegisterWebhookEndpoint');
  return exampled(body, {
    url: 'https://shop.example.com/hooks',
    events: ['transfer.completed', 'payout.completed'],
  });
}

export function changeEndpointBody(parseUrl: Sending['parseUrl']) {
  const body = z
    .strictObject({
      url: optional(urlField(parseUrl)),
      events: optional(typesField),
      status: optional(z.enum(['enabled', 'disabled'])).describe('Whether events are sent to it.'),
    })
    .openapi('ChangeWebhookEndpoint');
  return exampledAs(body, { status: 'enabled' });
}

export const EndpointSchema = z
  .object({
    id: uuidSchema.describe('The id of the endpoint.'),
    url: z.string().openapi({ format: 'uri', description: 'Where events are sent.' }),
    events: z.array(z.enum(SUBSCRIBABLE_TYPES)).describe('The types of events it receives.'),
    status: z.enum(['enabled', 'disabled']).describe('Whether events are sent to it.'),
    disabled_reason: z
      .enum(DISABLED_REASONS)
      .nullable()
      .openapi({ description: 'Who or what disabled it; null while it is enabled.' }),
    api_version: z
      .enum(API_VERSIONS)
      .openapi({ description: 'The version of its events, pinned at registration.' }),
    created_at: instantSchema.describe('When it was registered.'),
    last_success_at: instantSchema
      .nullable()
      .openapi({ description: 'When it last answered 2xx, tests included.' }),
    lost_events: z
      .object({
        from: z.number().int().describe('The first sequence.'),
        to: z.number().int().describe('The last sequence.'),
      })
      .nullable()
      .openapi({
        description: 'The sequences that retention removed before they were sent to this endpoint.',
      }),
  })
  .openapi('WebhookEndpoint');

const ENDPOINT: z.input<typeof EndpointSchema> = {
  id: EXAMPLE.id,
  url: 'https://shop.example.com/hooks',
  events: ['transfer.completed', 'payout.completed'],
  status: 'enabled',
  disabled_reason: null,
  api_version: API_VERSIONS[0],
  created_at: EXAMPLE.at,
  last_success_at: EXAMPLE.later,
  lost_events: null,
};
exampled(EndpointSchema, ENDPOINT);
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

const secret = z.string().openapi({
  description: 'Signs every delivery. Shown here and never again.',
  example: 'whsec_…',
});

/** The secret is absent from a replay: it is shown exactly once. */
export const RegisteredEndpointSchema = EndpointSchema.extend({
  secret: secret.optional(),
}).openapi('RegisteredWebhookEndpoint');

export const RotatedEndpointSchema = EndpointSchema.extend({ secret }).openapi(
  'RotatedWebhookEndpoint',
);

exampled(RegisteredEndpointSchema, { ...ENDPOINT, last_success_at: null, secret: SECRET });
exampled(RotatedEndpointSchema, { ...ENDPOINT, secret: SECRET });

export const EndpointPageSchema = pageSchema('WebhookEndpointPage', EndpointSchema);

export const PageQuery = z.strictObject(PAGE_QUERY);

const DeliverySchema = z
  .object({
    id: uuidSchema.describe('The id of the delivery.'),
    event_id: uuidSchema.openapi({ description: 'Also the `webhook-id` of every attempt.' }),
    event_type: z.string().describe('The type of the event.'),
    cause: z.enum(DELIVERY_CAUSES).describe('Why the event was sent.'),
    status: z.enum(DELIVERY_STATES).openapi({
      description:
        'pending: not tried yet. retrying: it failed and will be tried again. delivered: it was answered 2xx. failed: every retry failed. ended: its type is no longer subscribed to, or the event is no longer kept.',
    }),
    attempts: z
      .array(
        z.object({
          at: instantSchema.describe('When the request was sent.'),
          status: z
            .number()
            .int()
            .nullable()
            .openapi({ description: 'The HTTP status; null if no answer came.' }),
          failure: z
            .string()
            .nullable()
            .openapi({ description: 'Why no answer came, as a stable word.' }),
          message: z.string().nullable().describe('Why no answer came, for people.'),
          duration_ms: z.number().int().describe('How long the attempt took.'),
          response: z
            .string()
            .nullable()
            .openapi({ description: "The first KiB of the answer's body." }),
        }),
      )
      .describe('The requests so far, oldest first.'),
    next_attempt_at: instantSchema
      .nullable()
      .describe('When it is tried next; null if it is not tried again.'),
    created_at: instantSchema.describe('When the delivery was begun.'),
  })
  .openapi('WebhookDelivery');
exampled(DeliverySchema, {
  id: EXAMPLE.id,
  event_id: EXAMPLE.event,
  event_type: 'transfer.completed',
  cause: 'event',
  status: 'delivered',
  attempts: [
    {
      at: EXAMPLE.later,
      status: 204,
      failure: null,
      message: null,
      duration_ms: 38,
      response: null,
    },
  ],
  next_attempt_at: null,
  created_at: EXAMPLE.at,
});

export const DeliveryPageSchema = pageSchema('WebhookDeliveryPage', DeliverySchema);

export const RecoverBody = z
  .strictObject({ since: instantField('up').openapi({ description: 'At most 30 days ago.' }) })
  .openapi('RecoverWebhookEndpoint');
exampled(RecoverBody, { since: '2026-11-20T00:00:00Z' });

export const RecoverySchema = z
  .object({
    since: instantSchema.describe('The moment from which on events are sent again.'),
    from_sequence: z
      .number()
      .int()
      .nullable()
      .openapi({ description: 'Null if nothing has happened since.' }),
    to_sequence: z
      .number()
      .int()
      .nullable()
      .describe('The last event that is sent again; null if there is none.'),
  })
  .openapi('WebhookRecovery');
exampled(RecoverySchema, {
  since: '2026-11-20T00:00:00.000Z',
  from_sequence: 4630,
  to_sequence: 4711,
});

export const TestSchema = z
  .object({
    type: z.literal('webhook.test').describe('Always `webhook.test`.'),
    id: uuidSchema.describe('The id of the test, also in the `webhook-id` header.'),
    created_at: instantSchema.describe('When the test was requested.'),
  })
  .openapi('WebhookTest');
exampled(TestSchema, { type: 'webhook.test', id: EXAMPLE.event, created_at: EXAMPLE.at });

type Shown = Readonly<Record<string, unknown>>;

/** An endpoint as answers show it; never its secret. (docs/contract.md, Webhooks) */
export function presentEndpoint({ endpoint, types }: ShownEndpoint): Shown {
  const { lostFrom, lostTo } = endpoint;
  return {
    id: endpoint.id,
    url: endpoint.url,
    events: SUBSCRIBABLE_TYPES.filter((type) => types.includes(type)),
    status: endpoint.status,
    disabled_reason: endpoint.disabledReason,
    api_version: endpoint.apiVersion,
    created_at: toRfc3339(endpoint.createdAt),
    last_success_at: toRfc3339(endpoint.lastSuccessAt),
    lost_events:
      lostFrom === null || lostTo === null ? null : { from: Number(lostFrom), to: Number(lostTo) },
  };
}

export function presentDelivery({ delivery, attempts }: ShownDelivery): Shown {
  return {
    id: delivery.id,
    event_id: delivery.eventId,
    event_type: delivery.eventType,
    cause: delivery.cause,
    status: delivery.state,
    attempts: attempts.map(presentAttempt),
    next_attempt_at: toRfc3339(delivery.nextAttemptAt),
    created_at: toRfc3339(delivery.createdAt),
  };
}

function presentAttempt(attempt: WebhookAttempt): Shown {
  return {
    at: toRfc3339(attempt.at),
    status: attempt.status,
    failure: attempt.failure,
    message: attempt.message,
    duration_ms: attempt.durationMs,
    response: attempt.response,
  };
}
