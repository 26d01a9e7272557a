import { API_VERSIONS } from '../core/versions.js';
import { EVENT_TYPES } from '../db/entities/events.js';
import { CREATED_AT_QUERY, instantSchema, PAGE_QUERY, pageSchema, uuidSchema } from '../http/schemas.js';
import { z } from '../http/zod.js';

export const EventSchema = z
  .object({
    id: uuidSchema.openapi({ description: 'Stays the same when the event is delivered again.' }),
    type: z.enum(EVENT_TYPES),
    api_version: z.enum(API_VERSIONS),
    created_at: instantSchema,
    sequence: z.number().int().openapi({ description: 'Gapless for each tenant, in the order of the commits.' }),
    data: z.object({
      object: z.record(z.string(), z.unknown()).openapi({ description: 'The resource at that moment.' }),
    }),
  })
  .openapi('Event');

export const EventPageSchema = pageSchema('EventPage', EventSchema).extend({
  first_sequence: z.number().int().nullable().openapi({ description: 'The oldest event that the log still has.' }),
});

export const EventQuery = z.strictObject({
  ...PAGE_QUERY,
  ...CREATED_AT_QUERY,
  type: z.enum(EVENT_TYPES).optional(),
  order: z.enum(['asc', 'desc']).default('desc'),
});
