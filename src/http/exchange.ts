import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ErrorCode } from '../core/error-table.js';
import { asUuid, isCanonicalUuid, newId, type Uuid } from '../core/ids.js';
import type { Operation, TokenHolder } from '../core/permissions.js';
import type { RateState } from './rate-limit.js';
import type { ApiResponse, Method, Route } from './route.js';

export class Exchange {
  /** A new id: an id sent by the client is not trusted. */
  readonly requestId: Uuid = newId();
  readonly beganAt: number = performance.now();
  readonly path: string;
  readonly search: string;
  /** The route's template, for logs and metrics. */
  routeName = 'unknown';
  route: Route | null = null;
  params: Readonly<Record<string, string>> = {};
  /** Null for a page, which Koa sends. */
  apiResponse: ApiResponse | null = null;
  caller: TokenHolder | null = null;
  rate: RateState | null = null;
  code: ErrorCode | null = null;
  fault: string | null = null;

  constructor(
    readonly request: IncomingMessage,
    readonly response: ServerResponse,
  ) {
    const target = originForm(request.url ?? '');
    const mark = target.indexOf('?');
    this.path = mark < 0 ? target : target.slice(0, mark);
    this.search = mark < 0 ? '' : target.slice(mark + 1);
  }

  get method(): string {
    return this.request.method ?? '';
  }
}

/** A request meant for a proxy may contain the whole address. */
function originForm(target: string): string {
  return target.startsWith('/') ? target : target.replace(/^https?:\/\/[^/?]*/i, '');
}

export interface CompletedRequest {
  readonly id: Uuid;
  readonly caller: TokenHolder;
  readonly operation: Operation;
  readonly method: Method;
  /** The route's template with its ids filled in; other parameters keep their names. */
  readonly path: string;
  readonly status: number;
  readonly code: ErrorCode | null;
  /** The resource that a POST to a collection created; otherwise null. */
  readonly resourceId: Uuid | null;
}

/** Returns null for a request without a valid token or a route. */
export function completedRequest(exchange: Exchange, status: number): CompletedRequest | null {
  const { requestId: id, caller, route, params, code } = exchange;
  if (caller === null || route === null) return null;
  const { permits: operation, method } = route;
  const path = route.path.replace(/\{(\w+)\}/g, (name, param: string) => {
    const value = params[param]?.toLowerCase() ?? '';
    return isCanonicalUuid(value) ? value : name;
  });
  const isCollection = method === 'POST' && !route.path.includes('{');
  const resourceId = isCollection ? idOf(exchange.apiResponse?.body) : null;
  return { id, caller, operation, method, path, status, code, resourceId };
}

function idOf(body: unknown): Uuid | null {
  return typeof body === 'object' && body !== null && 'id' in body && typeof body.id === 'string'
    ? asUuid(body.id)
    : null;
}
