import { ERROR_CODES } from '../core/error-table.js';
import { toRfc3339 } from '../core/instant.js';
import { KEY_RESOURCE_TYPES } from '../db/entities/ledger.js';
import { EXAMPLE, z } from '../http/zod.js';
import { defineResource, fieldsOf } from '../http/resource.js';
import { instantSchema, uuidSchema } from '../http/schemas.js';
import type { RequestResult } from './log.js';

const field = fieldsOf<RequestResult>();

export const requestResource = defineResource('Request', 'The outcome of a request.', {
  id: field('The `Svc-Request-Id` of its answer.', uuidSchema, EXAMPLE.id, ({ id }) => id),
  method: field(
    'The method of HTTP.',
    z.string().openapi({ enum: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] }),
    'POST',
    ({ method }) => method,
  ),
  path: field('The path, without the query.', z.string(), '/v1/transfers', ({ path }) => path),
  status: field('The status it was answered with.', z.int(), 201, ({ status }) => status),
  code: field(
    'The code of the error; null if the answer was not an error.',
    z.enum(ERROR_CODES as [string, ...string[]]).nullable(),
    null,
    ({ code }) => code,
  ),
  resource: field(
    'The resource that it created, or that its key had created before, even after a 503.',
    z
      .object({
        type: z.enum(KEY_RESOURCE_TYPES).describe('The kind of resource.'),
        id: uuidSchema.describe('The id of the resource.'),
      })
      .nullable(),
    { type: 'transfer', id: EXAMPLE.id },
    ({ resource }) => resource,
  ),
  created_at: field('When it arrived.', instantSchema, EXAMPLE.at, ({ createdAt }) =>
    toRfc3339(createdAt),
  ),
});
