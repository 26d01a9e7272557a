import type { Uuid } from '../core/ids.js';
import type { Caller } from '../core/permissions.js';
import { type Api, pathId } from '../http/route.js';
import type { RequestResult } from './log.js';
import { requestResource } from './schemas.js';

/** (docs/contract.md, Request ids) */
export function requestRoutes(
  api: Api,
  read: (caller: Caller, id: Uuid) => Promise<RequestResult>,
): void {
  api.get('/v1/requests/{request_id}', {
    operationId: 'getRequest',
    permits: 'readRequests',
    answers: { 200: requestResource.schema },
    summary: 'Read what became of a request',
    description:
      'Finds a request by the `Svc-Request-Id` of its response; errors have one, too. If no response arrived, repeat the request with the same `Idempotency-Key` instead. Shows requests by the same member that changed something or were meant to, or that failed because of a fault of the service. Kept for 30 days, and readable within a second or two of the response. The token needs a scope that the request itself accepts.',
    handler: async (request) => ({
      status: 200,
      body: requestResource.present(await read(request.caller, pathId(request, 'request_id'))),
    }),
  });
}
