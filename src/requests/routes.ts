import type { Uuid } from '../core/ids.js';
import type { Caller } from '../core/permissions.js';
import { type Api, pathId } from '../http/route.js';
import { CREATED_TYPES, type RequestResult } from './log.js';
import { ERROR_CODES } from '../core/error-table.js';
import { toRfc3339 } from '../core/instant.js';
import { EXAMPLE, z } from '../http/zod.js';
import { defineResource, fieldsOf } from '../http/resource.js';
import { instantSchema, openEnum, uuidSchema } from '../http/schemas.js';

const field = fieldsOf<RequestResult>();

const requestResource = defineResource('Request', 'The outcome of a request.', {
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
    openEnum([...ERROR_CODES, null]).nullable(),
    null,
    ({ code }) => code,
  ),
  resource: field(
    'The resource that it created, or that its key had created before, even after a 503.',
    z
      .object({
        type: z.enum(CREATED_TYPES).describe('The kind of resource.'),
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

/** (docs/contract.md, Request ids) */
export function requestRoutes(
  api: Api,
  read: (caller: Caller, id: Uuid) => Promise<RequestResult>,
): void {
  api.get('/v1/requests/{request_id}', {
    operationId: 'getRequest',
    permits: 'readRequests',
    responses: { 200: requestResource.schema },
    summary: 'Read what became of a request',
    description:
      'Finds a request by the `Svc-Request-Id` of its response; errors have one, too. If no response arrived, repeat the request with the same `Idempotency-Key` instead. Shows requests by the same member that changed something or were meant to, or that failed because of a fault of the service. Kept for 30 days, and readable within a second or two of the response. The token needs a scope that the request itself accepts.',
    handler: async (request) => ({
      status: 200,
      body: requestResource.present(await read(request.caller, pathId(request, 'request_id'))),
    }),
  });
}
