import type { IncomingHttpHeaders } from 'node:http';
import Router from '@koa/router';
import type { RequestState } from './dispatch.js';
import { readBody } from './request-body.js';
import type { ApiAnswer } from './route.js';

/** A route for senders without a token, which are not tenants. `receive` verifies the sender. */
export interface InboundRoute {
  readonly path: string;
  readonly pattern: RegExp;
  readonly receive: (message: InboundMessage) => Promise<ApiAnswer>;
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
      exchange.answer = await receive({ path, params, headers: request.headers, body });
    });
  return router;
}
