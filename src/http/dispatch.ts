import Router, { type RouterMiddleware } from '@koa/router';
import { groupBy } from '../core/collections.js';
import { notFound } from '../core/errors.js';
import { methodNotAllowed } from './errors.js';
import type { Exchange } from './exchange.js';
import type { Route } from './route.js';

/** What Koa carries along with a request. */
export interface RequestState {
  exchange: Exchange;
}

export type Answering = (exchange: Exchange, route: Route, params: Readonly<Record<string, string>>) => Promise<void>;

/**
 * A router for each resource, so that what is asked for most, which comes first, waits for no other. Paths match in their
 * exact case, without a slash behind, and a fixed path before one with a parameter.
 */
export function routersOf(routes: readonly Route[], answer: Answering): Router<RequestState>[] {
  const resources = groupBy(routes, ({ path }) => path.split('/')[2]);
  return Array.from(resources.values(), (own) => {
    const router = new Router<RequestState>({ sensitive: true, strict: true, exclusive: 'specificity' });
    for (const route of own)
      router.register(route.path.replace(/\{(\w+)\}/g, ':$1'), [route.method], ({ state, params }) =>
        answer(state.exchange, route, params),
      );
    return router;
  });
}

/** Koa's router would take malformed percent-encoding as it stands. Throws the one `not_found`. */
export function assertWellFormed({ path }: Exchange): void {
  if (!path.includes('%')) return;
  try {
    decodeURIComponent(path);
  } catch {
    throw notFound();
  }
}

/** Behind every router. Not `allowedMethods`, which answers OPTIONS and tells methods that it does not know with 501. */
export const refuseUnmatched: RouterMiddleware<RequestState> = ({ matched = [] }) => {
  // A layer has HEAD before its GET.
  const allowed = new Set(matched.flatMap(({ methods }) => methods.toReversed()));
  throw allowed.size === 0 ? notFound() : methodNotAllowed([...allowed].join(', '));
};
