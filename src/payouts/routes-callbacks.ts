import { ApiError, notFound, type Refusal } from '../core/errors.js';
import type { InboundRoute } from '../http/inbound.js';
import type { RailCallbacks } from './callbacks.js';
import { httpRail } from './rails/rules.js';

const UNSIGNED: Refusal = {
  code: 'unauthorized',
  message: 'the callback is not signed as it must be, or not of now',
};
const MALFORMED: Refusal = {
  code: 'invalid_field',
  message: 'the callback is not what docs/payout-rail.md describes',
};
const REUSED: Refusal = {
  code: 'idempotency_key_reused',
  message: 'the id was used for another callback',
};

/** POST /rails/{rail}/callbacks: for gateways, not for tenants. (docs/payout-rail.md) */
export function railCallbackRoute(callbacks: RailCallbacks): InboundRoute {
  return {
    path: '/rails/{rail}/callbacks',
    pattern: /^\/rails\/(?<rail>[a-z0-9-]{1,30})\/callbacks$/,
    receive: async ({ path, params, headers, body }) => {
      const effect = await callbacks.receive({
        rail: httpRail(params.rail ?? ''),
        path,
        headers,
        body,
      });
      switch (effect) {
        case null:
        case 'unknown_payout':
          throw notFound();
        case 'forged':
        case 'late':
          throw new ApiError(UNSIGNED);
        case 'malformed':
          throw new ApiError(MALFORMED);
        case 'reused':
          throw new ApiError(REUSED);
        default:
          // Also for a report that changed nothing: sending it again would change nothing either.
          return { status: 200, body: { received: true } };
      }
    },
  };
}
