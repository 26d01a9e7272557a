import { toRfc3339 } from '../core/instant.js';
import { API_VERSIONS } from '../core/api-version.js';
import {
  DELIVERY_CAUSES,
  DELIVERY_STATES,
  type DeliveryState,
  DISABLED_REASONS,
} from '../db/entities/webhooks.js';
import { SUBSCRIBABLE_TYPES } from '../db/entities/events.js';
import { EXAMPLE, exampled, exampledAs, z } from '../http/zod.js';
import { defineResource, fieldsOf, withValues } from '../http/resource.js';
import {
  instantField,
  instantSchema,
  openEnum,
  optional,
  PAGE_QUERY,
  pageSchema,
  uuidSchema,
} from '../http/schemas.js';
import { type AddressGuard, MAX_URL_LENGTH } from './address-guard.js';
import { FAILURE_MEANINGS } from './attempt.js';
import type { DeliveryWithAttempts, EndpointWithTypes } from './endpoints.js';

export { EventSchema } from '../events/schemas.js';

type UrlParser = Pick<AddressGuard, 'parseUrl'>;

/** Reasons are those of the address guard, without DNS. */
function urlField(guard: UrlParser) {
  return z
    .string()
    .transform((text, context): string => {
      const parsed = guard.parseUrl(text);
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
  .describe('The types of events it receives.');

/** Which URLs are valid depends on the allowed hosts. */
export function registerEndpointBody(guard: UrlParser) {
  const body = z
    .strictObject({ url: urlField(guard), events: typesField })
    .openapi('RegisterWebhookEndpoint');
  return exampled(body, {
    url: 'https://shop.example.com/hooks',
    events: ['transfer.completed', 'payout.completed'],
  });
}

export function changeEndpointBody(guard: UrlParser) {
  const body = z
    .strictObject({
      url: optional(urlField(guard)),
      events: optional(typesField),
      status: optional(z.enum(['enabled', 'disabled'])).describe('Whether events are sent to it.'),
    })
    .openapi('ChangeWebhookEndpoint');
  return exampledAs(body, { status: 'enabled' });
}

const field = fieldsOf<EndpointWithTypes>();

/** Without the secret. (docs/contract.md, Webhooks) */
export const endpointResource = defineResource(
  'WebhookEndpoint',
  'An address of the tenant to which events are sent.',
  {
    id: field('The id of the endpoint.', uuidSchema, EXAMPLE.id, ({ id }) => id),
    url: field(
      'Where events are sent.',
      z.string().openapi({ format: 'uri' }),
      'https://shop.example.com/hooks',
      ({ url }) => url,
    ),
    events: field(
      'The types of events it receives.',
      z.array(openEnum(SUBSCRIBABLE_TYPES)),
      ['transfer.completed', 'payout.completed'],
      ({ types }) => SUBSCRIBABLE_TYPES.filter((type) => types.includes(type)),
    ),
    status: field(
      withValues<'enabled' | 'disabled'>('Whether events are sent to it.', {
        enabled: 'they are',
        disabled: 'they are not, as `disabled_reason` says',
      }),
      z.string().openapi({ enum: ['enabled', 'disabled'] }),
      'enabled',
      ({ status }) => status,
    ),
    disabled_reason: field(
      'Who or what disabled it; null while it is enabled.',
      z.enum(DISABLED_REASONS).nullable(),
      null,
      ({ disabledReason }) => disabledReason,
    ),
    api_version: field(
      'The version of its events, pinned at registration.',
      z.enum(API_VERSIONS),
      API_VERSIONS[0],
      ({ apiVersion }) => apiVersion,
    ),
    created_at: field('When it was registered.', instantSchema, EXAMPLE.at, ({ createdAt }) =>
      toRfc3339(createdAt),
    ),
    last_success_at: field(
      'When it last answered 2xx, tests included.',
      instantSchema.nullable(),
      EXAMPLE.later,
      ({ lastSuccessAt }) => toRfc3339(lastSuccessAt),
    ),
    lost_events: field(
      'The sequences that retention removed before they were sent to this endpoint.',
      z
        .object({
          from: z.int().describe('The first sequence.'),
          to: z.int().describe('The last sequence.'),
        })
        .nullable(),
      null,
      ({ lostFrom: from, lostTo: to }) =>
        from === null || to === null ? null : { from: Number(from), to: Number(to) },
    ),
  },
);
export const EndpointSchema = endpointResource.schema;
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

const secret = z.string().openapi({
  description: 'Signs every delivery. Shown here and never again.',
  example: 'whsec_…',
});

/** A replay has no secret. */
export const RegisteredEndpointSchema = EndpointSchema.extend({
  secret: secret.optional(),
}).openapi('RegisteredWebhookEndpoint');

export const RotatedEndpointSchema = EndpointSchema.extend({ secret }).openapi(
  'RotatedWebhookEndpoint',
);

exampled(RegisteredEndpointSchema, {
  ...endpointResource.example,
  last_success_at: null,
  secret: SECRET,
});
exampled(RotatedEndpointSchema, { ...endpointResource.example, secret: SECRET });

export const EndpointPageSchema = pageSchema('WebhookEndpointPage', EndpointSchema);

export const PageQuery = z.strictObject(PAGE_QUERY);

const ofDelivery = fieldsOf<DeliveryWithAttempts>();

export const deliveryResource = defineResource(
  'WebhookDelivery',
  'An event or a test that is sent to an endpoint, with each attempt.',
  {
    id: ofDelivery('The id of the delivery.', uuidSchema, EXAMPLE.id, ({ id }) => id),
    event_id: ofDelivery(
      'Also the `webhook-id` of every attempt.',
      uuidSchema,
      EXAMPLE.event,
      ({ eventId }) => eventId,
    ),
    event_type: ofDelivery(
      'The type of the event.',
      z.string(),
      'transfer.completed',
      ({ eventType }) => eventType,
    ),
    cause: ofDelivery(
      'Why the event was sent.',
      z.enum(DELIVERY_CAUSES),
      'event',
      ({ cause }) => cause,
    ),
    status: ofDelivery(
      withValues<DeliveryState>('The state.', {
        pending: 'it was not tried yet',
        retrying: 'it failed and will be tried again',
        delivered: 'it was answered 2xx. Final',
        failed: 'every retry failed. Final',
        ended: 'its type is no longer subscribed to, or the event is no longer kept. Final',
      }),
      z.enum(DELIVERY_STATES),
      'delivered',
      ({ state }) => state,
    ),
    attempts: ofDelivery(
      'The requests so far, oldest first.',
      z.array(
        z.object({
          at: instantSchema.describe('When the request was sent.'),
          status: z.int().nullable().describe('The HTTP status; null if no answer came.'),
          failure: openEnum([...Object.keys(FAILURE_MEANINGS), null])
            .nullable()
            .describe(withValues('Why no answer came, for machines.', FAILURE_MEANINGS)),
          message: z.string().nullable().describe('Why no answer came, for people.'),
          duration_ms: z.int().describe('How long the attempt took.'),
          response: z.string().nullable().describe("The first KiB of the answer's body."),
        }),
      ),
      [
        {
          at: EXAMPLE.later,
          status: 204,
          failure: null,
          message: null,
          duration_ms: 38,
          response: null,
        },
      ],
      ({ attempts }) =>
        attempts.map(({ at, status, failure, message, durationMs, response }) => ({
          at: toRfc3339(at),
          status,
          failure,
          message,
          duration_ms: durationMs,
          response,
        })),
    ),
    next_attempt_at: ofDelivery(
      'When it is tried next; null if it is not tried again.',
      instantSchema.nullable(),
      null,
      ({ nextAttemptAt }) => toRfc3339(nextAttemptAt),
    ),
    created_at: ofDelivery(
      'When the delivery was begun.',
      instantSchema,
      EXAMPLE.at,
      ({ createdAt }) => toRfc3339(createdAt),
    ),
  },
);

export const DeliveryPageSchema = pageSchema('WebhookDeliveryPage', deliveryResource.schema);

export const RecoverBody = z
  .strictObject({ since: instantField('up').describe('At most 30 days ago.') })
  .openapi('RecoverWebhookEndpoint');
exampled(RecoverBody, { since: '2026-11-20T00:00:00Z' });

export const RecoverySchema = z
  .object({
    since: instantSchema.describe('The moment from which on events are sent again.'),
    from_sequence: z.int().nullable().describe('Null if nothing has happened since.'),
    to_sequence: z
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
