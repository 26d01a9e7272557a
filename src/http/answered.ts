import type { ErrorCode } from '../core/errors.js';
import { asUuid, isCanonicalUuid, type Uuid } from '../core/ids.js';
import type { Caller, Operation } from '../core/permissions.js';
import type { Exchange } from './exchange.js';
import type { Method } from './route.js';

export interface AnsweredRequest {
  readonly id: Uuid;
  readonly caller: Caller;
  readonly operation: Operation;
  readonly method: Method;
  /** The route's template with its ids filled in; other parameters keep their names. */
  readonly path: string;
  readonly status: number;
  readonly code: ErrorCode | null;
  /** The resource in the response to a POST to a collection; otherwise null. */
  readonly resourceId: Uuid | null;
}

/** Returns null for a request without a valid token or a route. */
export function answeredRequest(exchange: Exchange, status: number): AnsweredRequest | null {
  const { requestId: id, caller, route, params, code } = exchange;
  if (caller === null || route === null) return null;
  const { operation, method } = route;
  const path = route.path.replace(/\{(\w+)\}/g, (name, param: string) => {
    const value = params[param]?.toLowerCase() ?? '';
    return isCanonicalUuid(value) ? value : name;
  });
  const isCollection = method === 'POST' && !route.path.includes('{');
  const resourceId = isCollection ? idOf(exchange.answer?.body) : null;
  return { id, caller, operation, method, path, status, code, resourceId };
}

function idOf(body: unknown): Uuid | null {
  return typeof body === 'object' && body !== null && 'id' in body && typeof body.id === 'string'
    ? asUuid(body.id)
    : null;
}
