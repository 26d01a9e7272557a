import { type Api, pathId } from '../http/route.js';
import { respondWithNumberedPage, type Cursors } from '../http/cursor.js';
import { type EventDeps, presentGap, readEvent, readEvents } from './log.js';
import { DESCRIBED_EVENTS, EventPageSchema, EventQuery, EventSchema } from './schemas.js';

export function eventRoutes(api: Api, database: EventDeps, cursors: Cursors): void {
  for (const event of DESCRIBED_EVENTS) api.addEvent(event);
  api.get('/v1/events', {
    operationId: 'listEvents',
    permits: 'readEvents',
    query: EventQuery,
    responses: { 200: EventPageSchema },
    summary: 'List the events of the tenant',
    description:
      'Newest first. With `order=asc`, oldest first: `next_cursor` is then never null, and gets newer events later. A cursor before `first_sequence` gets 400 with the reason `expired`. `gaps` names the sequences that a restore of the service skipped.',
    handler: (request) =>
      respondWithNumberedPage(cursors, request, async (after, limit) => {
        const { caller, query: input } = request;
        const filter = {
          type: input.type,
          from: input['created_at[gte]'],
          to: input['created_at[lte]'],
        };
        const reader = database.readerFor(caller);
        const page = await readEvents(reader, caller.tenantId, filter, input.order, after, limit);
        return {
          items: page.bodies.map((text): unknown => JSON.parse(text)),
          next: page.hasMore || input.order === 'asc' ? page.position : null,
          first_sequence: page.firstSequence === null ? null : Number(page.firstSequence),
          gaps: page.gaps.map(presentGap),
        };
      }),
  });

  api.get('/v1/events/{id}', {
    operationId: 'getEvent',
    permits: 'readEvents',
    responses: { 200: EventSchema },
    refusals: ['not_found'],
    summary: 'Read an event',
    handler: async (request) => {
      const { caller } = request;
      const reader = database.readerFor(caller);
      const text = await readEvent(reader, caller.tenantId, pathId(request, 'id'));
      return { status: 200, body: JSON.parse(text) as unknown };
    },
  });
}
