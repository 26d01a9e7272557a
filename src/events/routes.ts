import { API_VERSIONS } from '../core/versions.js';
import { EVENT_TYPES } from '../db/entities/events.js';
import type { Api } from '../http/api.js';
import { type Cursors, cursorBinding } from '../http/cursor.js';
import { answers, pathId, permits, query, refuses, summary } from '../http/route.js';
import { CREATED_AT_QUERY, instantSchema, PAGE_QUERY, pageSchema, uuidSchema } from '../http/schemas.js';
import { z } from '../http/zod.js';
import type { EventLog } from './service.js';

const EventSchema = z
  .object({
    id: uuidSchema.openapi({ description: 'Stays the same when the event is delivered again.' }),
    type: z.enum(EVENT_TYPES),
    api_version: z.enum(API_VERSIONS),
    created_at: instantSchema,
    sequence: z.number().int().openapi({ description: 'Gapless for each tenant, in the order of the commits.' }),
    data: z.object({ object: z.record(z.string(), z.unknown()).openapi({ description: 'The resource at that moment.' }) }),
  })
  .openapi('Event');

const EventPageSchema = pageSchema('EventPage', EventSchema).extend({
  first_sequence: z.number().int().nullable().openapi({ description: 'The oldest event that the log still has.' }),
});

const EventQuery = z.strictObject({
  ...PAGE_QUERY,
  ...CREATED_AT_QUERY,
  type: z.enum(EVENT_TYPES).optional(),
  order: z.enum(['asc', 'desc']).default('desc'),
});

export function eventRoutes(api: Api, events: EventLog, cursors: Cursors): void {
  api.get(
    '/v1/events',
    permits('readEvents'),
    query(EventQuery),
    answers({ 200: EventPageSchema }),
    summary(
      'List the events of the tenant',
      'Newest first. With `order=asc` the log is followed upward: `next_cursor` is then never null, ask again with it for what came since.',
    ),
    async (request) => {
      const binding = cursorBinding(request);
      const { caller, query: wanted } = request;
      const filter = { type: wanted.type, from: wanted['created_at[gte]'], to: wanted['created_at[lte]'] };
      const [seen] = wanted.cursor === undefined ? [] : cursors.decode(binding, wanted.cursor);
      const after = seen === undefined ? null : BigInt(seen);
      const page = await events.list(caller, filter, wanted.order, after, wanted.limit);
      const goesOn = page.hasMore || wanted.order === 'asc';
      const position = page.lastShown ?? after ?? 0n;
      return {
        status: 200,
        body: {
          items: page.bodies.map((text): unknown => JSON.parse(text)),
          next_cursor: goesOn ? cursors.encode(binding, [position.toString()]) : null,
          first_sequence: page.firstSequence === null ? null : Number(page.firstSequence),
        },
      };
    },
  );

  api.get(
    '/v1/events/{id}',
    permits('readEvents'),
    answers({ 200: EventSchema }),
    refuses('not_found'),
    summary('Read an event'),
    async (request) => {
      const text = await events.read(request.caller, pathId(request, 'id'));
      return { status: 200, body: JSON.parse(text) as unknown };
    },
  );
}
