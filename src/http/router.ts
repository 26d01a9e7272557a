import type { IncomingHttpHeaders } from 'node:http';
import Router, { type RouterMiddleware } from '@koa/router';
import { groupBy } from '../core/collections.js';
import { notFound } from '../core/errors.js';
import { methodNotAllowed } from './errors.js';
import type { Exchange } from './exchange.js';
import { readBody } from './request-body.js';
import type { ApiResponse, Route } from './route.js';

export interface RequestState {
  exchange: Exchange;
}

type RouteHandler = (
  exchange: Exchange,
  route: Route,
  params: Readonly<Record<string, string>>,
) => Promise<void>;

/** Uses a router for each resource, because a request costs more the more routes its router has. */
export function apiRouter(
  routes: readonly Route[],
  answer: RouteHandler,
): ReturnType<Router<RequestState>['routes']> {
  const resources = groupBy(routes, ({ path }) => resourceOf(path));
  const routers = new Map(
    Array.from(resources, ([name, own]) => [name, routerOf(own, answer).routes()]),
  );
  return (context, next) =>
    routers.get(resourceOf(context.state.exchange.path))?.(context, next) ?? next();
}

/** Returns `transfers` for `/v1/transfers/{id}`. */
function resourceOf(path: string): string {
  return path.split('/', 3)[2] ?? '';
}

function routerOf(routes: readonly Route[], answer: RouteHandler): Router<RequestState> {
  const router = new Router<RequestState>({
    sensitive: true,
    strict: true,
    exclusive: 'specificity',
  });
  for (const route of routes)
    router.register(route.path.replace(/\{(\w+)\}/g, ':$1'), [route.method], ({ state, params }) =>
      answer(state.exchange, route, params),
    );
  return router;
}

/** A route for senders without a token, which are not tenants. `receive` verifies the sender. */
export interface InboundRoute {
  readonly path: string;
  readonly pattern: RegExp;
  readonly receive: (message: InboundMessage) => Promise<ApiResponse>;
}

interface InboundMessage {
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

const BODY_LIMIT_MS = 30_000;

export function inboundRouter(routes: readonly InboundRoute[]): Router<RequestState> {
  const router = new Router<RequestState>();
  for (const { path: routeName, pattern, receive } of routes)
    router.post(pattern, async ({ state: { exchange } }) => {
      exchange.routeName = routeName;
      const { request, response, path } = exchange;
      const body = await readBody(request, response, BODY_LIMIT_MS);
      const params = { ...pattern.exec(path)?.groups };
      exchange.apiResponse = await receive({ path, params, headers: request.headers, body });
    });
  return router;
}

/** Throws not_found for malformed percent-encoding, which Koa's router would pass on unchanged. */
export function assertWellFormed({ path }: Exchange): void {
  if (!path.includes('%')) return;
  try {
    decodeURIComponent(path);
  } catch {
    throw notFound();
  }
}

/** `allowedMethods` is not used because it answers OPTIONS, and unknown methods with 501. */
export const refuseUnmatched: RouterMiddleware<RequestState> = ({ matched = [] }) => {
  // Reversed, because the router lists HEAD before GET.
  const allowed = new Set(matched.flatMap(({ methods }) => methods.toReversed()));
  throw allowed.size === 0 ? notFound() : methodNotAllowed([...allowed].join(', '));
};
