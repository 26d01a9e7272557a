import { VerificationSchema } from '../accounts/schemas.js';
import { BATCH_RESOURCES } from '../batches/schemas.js';
import { BATCH_ENDPOINTS } from '../batches/schemas-requests.js';
import { API_VERSIONS } from '../core/api-version.js';
import type { BatchKindName } from '../db/entities/batches.js';
import { EVENT_TYPES, type EventType, isSubscribable } from '../db/entities/events.js';
import { EXAMPLE, exampledAs, exampleOf, z } from '../http/zod.js';
import {
  CREATED_AT_QUERY,
  instantSchema,
  PAGE_QUERY,
  pageSchema,
  uuidSchema,
} from '../http/schemas.js';
import { PAYOUT_EXAMPLES, PayoutSchema } from '../payouts/schemas.js';
import { TRANSFER_EXAMPLES, TransferSchema } from '../transfers/schemas.js';

function eventSchema(type: EventType, resource: z.ZodType) {
  const name = type.replace(/(?:^|[._])(\w)/g, (_, letter: string) => letter.toUpperCase());
  return z
    .object({
      id: uuidSchema.describe('Stays the same when the event is delivered again.'),
      type: z.literal(type).describe('What happened.'),
      api_version: z.enum(API_VERSIONS).describe('The version that the body is written in.'),
      created_at: instantSchema.describe('When it happened.'),
      sequence: z
        .int()
        .describe(
          'The number of the event in the tenant, in commit order, without gaps except those in `gaps` of the list.',
        ),
      restores: z
        .int()
        .optional()
        .describe(
          'How many times the log had been restored to an earlier moment; absent if never. When it grows, read `gaps` of the list.',
        ),
      data: z.object({ object: resource }).describe('The resource at that moment.'),
    })
    .openapi(`${name}Event`);
}

type EventDescription = readonly [schema: z.ZodType, summary: string, resource: unknown];

/** The events of one kind of batches. */
function batchEvents<Kind extends BatchKindName>(kind: Kind, paid: string) {
  const { schema } = BATCH_RESOURCES[kind].event;
  const { ready, rejected, completed, partiallyFailed } = BATCH_ENDPOINTS[kind].eventExamples;
  const described: Readonly<Record<string, EventDescription>> = {
    [`${kind}_batch.ready`]: [schema, 'The file of a batch was accepted', ready],
    [`${kind}_batch.rejected`]: [
      schema,
      'The file of a batch was rejected, or the batch was withdrawn or lapsed',
      rejected,
    ],
    [`${kind}_batch.completed`]: [schema, `Every row of a batch ${paid}`, completed],
    [`${kind}_batch.partially_failed`]: [
      schema,
      'A batch ended with at least one row unpaid',
      partiallyFailed,
    ],
  };
  return described as Readonly<
    Record<Extract<EventType, `${Kind}_batch.${string}`>, EventDescription>
  >;
}

/** Each type's resource, summary and example. (docs/contract.md, Events) */
const DESCRIPTIONS: Readonly<Record<EventType, EventDescription>> = {
  'transfer.completed': [TransferSchema, 'A transfer moved its money', exampleOf(TransferSchema)],
  'transfer.rejected': [
    TransferSchema,
    'A transfer was rejected or canceled',
    TRANSFER_EXAMPLES.rejected,
  ],
  'transfer.expired': [
    TransferSchema,
    'A transfer was not approved or captured in time',
    TRANSFER_EXAMPLES.expired,
  ],
  'payout.approved': [PayoutSchema, 'A payout is on its way', exampleOf(PayoutSchema)],
  'payout.completed': [
    PayoutSchema,
    'The money of a payout has reached the bank',
    PAYOUT_EXAMPLES.completed,
  ],
  'payout.rejected': [PayoutSchema, 'A pending payout was rejected', PAYOUT_EXAMPLES.rejected],
  'payout.failed': [
    PayoutSchema,
    'A payout was not paid, and its money is back',
    PAYOUT_EXAMPLES.failed,
  ],
  'payout.returned': [
    PayoutSchema,
    'A completed payout came back from the bank',
    PAYOUT_EXAMPLES.returned,
  ],
  'payout.canceled': [
    PayoutSchema,
    'A payout was canceled, or not approved in time',
    PAYOUT_EXAMPLES.canceled,
  ],
  ...batchEvents('bonus', 'was paid'),
  ...batchEvents('payout', 'has become a payout'),
  'account.verified': [
    VerificationSchema,
    'An account was verified for the first time',
    exampleOf(VerificationSchema),
  ],
};

export const DESCRIBED_EVENTS = EVENT_TYPES.map((type) => {
  const [resource, summary, object] = DESCRIPTIONS[type];
  const example = {
    id: EXAMPLE.event,
    type,
    api_version: API_VERSIONS[0],
    created_at: EXAMPLE.later,
    sequence: 4711,
    data: { object },
  };
  const isDelivered = isSubscribable(type);
  const description = isDelivered
    ? 'Sent to the endpoints subscribed to it, and kept in the log.'
    : 'Only in the log (`GET /v1/events`): no endpoint can subscribe to it.';
  return {
    type,
    summary,
    description,
    isDelivered,
    schema: eventSchema(type, resource),
    example,
  };
});

type OneEventSchema = ReturnType<typeof eventSchema>;
const SCHEMAS = DESCRIBED_EVENTS.map(({ schema }) => schema) as [
  OneEventSchema,
  ...OneEventSchema[],
];
export const EventSchema = z.discriminatedUnion('type', SCHEMAS).openapi('Event');

const EventGapSchema = exampledAs(
  z
    .object({
      after: z.int().describe('The sequence of the last event before the gap; 0 if there is none.'),
      before: z.number().int().describe('The sequence of the first event after it.'),
      restored_to: instantSchema.describe(
        'Everything later, up to `created_at`, is undone; statements about it no longer hold.',
      ),
      created_at: instantSchema.describe('When the service was restored.'),
    })
    .openapi('EventGap'),
  { after: 4711, before: 1_004_712, restored_to: EXAMPLE.at, created_at: EXAMPLE.later },
);

const eventPage = pageSchema('EventPage', EventSchema).extend({
  first_sequence: z
    .number()
    .int()
    .nullable()
    .describe('The sequence of the oldest event still in the log.'),
  gaps: z.array(EventGapSchema).describe('What restores of the service left out, oldest first.'),
});
const AN_EVENT = DESCRIBED_EVENTS[0]?.example;

export const EventPageSchema = exampledAs(eventPage, {
  items: [AN_EVENT],
  next_cursor: EXAMPLE.cursor,
  first_sequence: 1,
  gaps: [],
});
exampledAs(EventSchema, AN_EVENT);

export const EventQuery = z.strictObject({
  ...PAGE_QUERY,
  ...CREATED_AT_QUERY,
  type: z.enum(EVENT_TYPES).optional().describe('Only events of this type.'),
  order: z
    .enum(['asc', 'desc'])
    .default('desc')
    .describe('`desc` is newest first, `asc` oldest first.'),
});
