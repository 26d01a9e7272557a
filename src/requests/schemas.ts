import { KEY_RESOURCE_TYPES } from '../db/entities/ledger.js';
import { ERROR_CODES } from '../core/errors.js';
import { EXAMPLE, exampled } from '../http/examples.js';
import { instantSchema, uuidSchema } from '../http/schemas.js';
import { z } from '../http/zod.js';

export const RequestSchema = z
  .object({
    id: uuidSchema.openapi({ description: 'The `Svc-Request-Id` of its answer.' }),
    method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']).describe('The method of HTTP.'),
    path: z
      .string()
      .openapi({ description: 'The path, without the query.', example: '/v1/transfers' }),
    status: z.int().openapi({ description: 'The status it was answered with.', example: 201 }),
    code: z
      .enum(ERROR_CODES as [string, ...string[]])
      .nullable()
      .openapi({ description: 'The code of the error; null if the answer was not an error.' }),
    resource: z
      .object({
        type: z.enum(KEY_RESOURCE_TYPES).describe('The kind of resource.'),
        id: uuidSchema.describe('The id of the resource.'),
      })
      .nullable()
      .openapi({
        description:
          'The resource that it created, or that its key had created before, even after a 503.',
      }),
    created_at: instantSchema.openapi({ description: 'When it arrived.' }),
  })
  .openapi('Request');
exampled(RequestSchema, {
  id: EXAMPLE.id,
  method: 'POST',
  path: '/v1/transfers',
  status: 201,
  code: null,
  resource: { type: 'transfer', id: EXAMPLE.id },
  created_at: EXAMPLE.at,
});
