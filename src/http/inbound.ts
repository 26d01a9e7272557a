import type { IncomingHttpHeaders } from 'node:http';
import { methodNotAllowed } from './errors.js';
import type { Exchange } from './exchange.js';
import { readBody } from './request-body.js';
import type { ApiAnswer } from './route.js';

/**
 * What reaches the API's port from others than tenants: no token, outside /v1, not in the OpenAPI document. Whoever receives it
 * checks by itself who sent it, over the bytes as they came.
 */
export interface InboundRoute {
  /** For logs and metrics. */
  readonly path: string;
  /** Its named groups are the parameters. */
  readonly pattern: RegExp;
  readonly receive: (message: InboundMessage) => Promise<ApiAnswer>;
}

export interface InboundMessage {
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** For the whole of a body. */
const BODY_LIMIT_MS = 30_000;

/** Null when it is no inbound route's. Throws 405, 413, and what `receive` throws. */
export function receiveInbound(routes: readonly InboundRoute[], exchange: Exchange): Promise<ApiAnswer> | null {
  for (const route of routes) {
    const match = route.pattern.exec(exchange.path);
    if (match !== null) return receive(route, { ...match.groups }, exchange);
  }
  return null;
}

async function receive(route: InboundRoute, params: Record<string, string>, exchange: Exchange): Promise<ApiAnswer> {
  exchange.routeName = route.path;
  if (exchange.method !== 'POST') throw methodNotAllowed('POST');
  const { request, response, path } = exchange;
  const body = await readBody(request, response, BODY_LIMIT_MS);
  return route.receive({ path, params, headers: request.headers, body });
}
