import { VerificationSchema } from '../accounts/schemas.js';
import { BATCH_EVENT_EXAMPLES, BatchOfEventSchema } from '../batches/schemas.js';
import { API_VERSIONS } from '../core/versions.js';
import { EVENT_TYPES, type EventType, isSubscribable } from '../db/entities/events.js';
import { EXAMPLE, exampledAs, exampleOf } from '../http/examples.js';
import { CREATED_AT_QUERY, instantSchema, PAGE_QUERY, pageSchema, uuidSchema } from '../http/schemas.js';
import { z } from '../http/zod.js';
import { PAYOUT_EXAMPLES, PayoutSchema } from '../payouts/schemas.js';
import { TRANSFER_EXAMPLES, TransferSchema } from '../transfers/schemas.js';

/** An event of one type, with the resource that it is about. */
function eventSchema(type: EventType, resource: z.ZodType) {
  const name = type.replace(/(?:^|[._])(\w)/g, (_, letter: string) => letter.toUpperCase());
  return z
    .object({
      id: uuidSchema.openapi({ description: 'Stays the same when the event is delivered again.' }),
      type: z.literal(type),
      api_version: z.enum(API_VERSIONS),
      created_at: instantSchema,
      sequence: z
        .number()
        .int()
        .openapi({ description: 'Gapless for each tenant but for `gaps` of the list, in the order of the commits.' }),
      restores: z.number().int().optional().openapi({
        description:
          'How often the log had been put back to an earlier moment by then; left out while it never was. Where it grows, see `gaps` of the list.',
      }),
      data: z.object({ object: resource }).openapi({ description: 'The resource at that moment.' }),
    })
    .openapi(`${name}Event`);
}

/** The resource that each is about, when it happens, and the resource as it is then. (docs/contract.md, Events) */
const TOLD: Readonly<Record<EventType, readonly [schema: z.ZodType, summary: string, resource: unknown]>> = {
  'transfer.completed': [TransferSchema, 'A transfer has moved its money', exampleOf(TransferSchema)],
  'transfer.rejected': [TransferSchema, 'A transfer that waited was rejected or canceled', TRANSFER_EXAMPLES.rejected],
  'transfer.expired': [TransferSchema, 'Nobody approved a transfer in time', TRANSFER_EXAMPLES.expired],
  'payout.approved': [PayoutSchema, 'A payout is on its way', exampleOf(PayoutSchema)],
  'payout.completed': [PayoutSchema, 'The bank has the money of a payout', PAYOUT_EXAMPLES.completed],
  'payout.rejected': [PayoutSchema, 'A payout that waited was rejected', PAYOUT_EXAMPLES.rejected],
  'payout.failed': [PayoutSchema, 'A payout was not paid, and its money is back', PAYOUT_EXAMPLES.failed],
  'payout.returned': [PayoutSchema, 'A completed payout came back from the bank', PAYOUT_EXAMPLES.returned],
  'payout.canceled': [PayoutSchema, 'A payout was canceled, or nobody approved it in time', PAYOUT_EXAMPLES.canceled],
  'bonus_batch.ready': [BatchOfEventSchema, 'The file of a batch is accepted', BATCH_EVENT_EXAMPLES.ready],
  'bonus_batch.rejected': [
    BatchOfEventSchema,
    'The file of a batch is refused, or the batch lapsed',
    BATCH_EVENT_EXAMPLES.rejected,
  ],
  'bonus_batch.completed': [BatchOfEventSchema, 'Every row of a batch is paid', BATCH_EVENT_EXAMPLES.completed],
  'bonus_batch.partially_failed': [
    BatchOfEventSchema,
    'A batch has ended, and a row was not paid',
    BATCH_EVENT_EXAMPLES.partiallyFailed,
  ],
  'account.verified': [VerificationSchema, 'An account was verified for the first time', exampleOf(VerificationSchema)],
};

/** Every type of event, as the document has it. */
export const DESCRIBED_EVENTS = EVENT_TYPES.map((type) => {
  const [resource, summary, object] = TOLD[type];
  const example = {
    id: EXAMPLE.event,
    type,
    api_version: API_VERSIONS[0],
    created_at: EXAMPLE.later,
    sequence: 4711,
    data: { object },
  };
  const isOffered = isSubscribable(type);
  const description = isOffered
    ? 'Told to the endpoints that are subscribed to it; it stands in the log as well.'
    : 'Stands in the log alone (`GET /v1/events`): no endpoint can subscribe to it.';
  return { type, summary, description, isSubscribable: isOffered, schema: eventSchema(type, resource), example };
});

type OneEventSchema = ReturnType<typeof eventSchema>;
const SCHEMAS = DESCRIBED_EVENTS.map(({ schema }) => schema) as [OneEventSchema, ...OneEventSchema[]];
export const EventSchema = z.discriminatedUnion('type', SCHEMAS).openapi('Event');

const EventGapSchema = exampledAs(
  z
    .object({
      after: z.number().int().openapi({ description: 'The last event before the gap; 0: there is none.' }),
      before: z.number().int().openapi({ description: 'The sequence of the first event behind it.' }),
      restored_to: instantSchema.openapi({
        description: 'What happened later, up to `created_at`, is undone: what was told of it holds no more.',
      }),
      created_at: instantSchema,
    })
    .openapi('EventGap'),
  { after: 4711, before: 1_004_712, restored_to: EXAMPLE.at, created_at: EXAMPLE.later },
);

const eventPage = pageSchema('EventPage', EventSchema).extend({
  first_sequence: z.number().int().nullable().openapi({ description: 'The oldest event that the log still has.' }),
  gaps: z.array(EventGapSchema).openapi({ description: 'What restores of the service have left out, oldest first.' }),
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
  type: z.enum(EVENT_TYPES).optional(),
  order: z.enum(['asc', 'desc']).default('desc'),
});
