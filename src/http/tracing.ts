import { currentTraceId, entrance } from '../core/trace.js';
import type { Exchange } from './exchange.js';

/** A request as a part of its sender's trace, or as the first of its own. Answers the status of its answer. */
export function tracedExchange(exchange: Exchange, answer: () => Promise<number>): Promise<number> {
  const { method, requestId, request } = exchange;
  const attributes = { 'http.request.method': method, 'request.id': requestId };
  return entrance({ name: method, kind: 'server', attributes }, request.headers.traceparent, async (span) => {
    const status = await answer();
    const { routeName, caller, code } = exchange;
    span.updateName(`${method} ${routeName}`);
    span.setAttributes({
      'http.route': routeName,
      'http.response.status_code': status,
      ...(caller === null ? {} : { 'tenant.id': caller.tenantId, 'token.id': caller.tokenKeyId }),
      ...(code === null ? {} : { 'error.type': code }),
    });
    return status;
  });
}

/** What a line of the log names of the trace that it is said in. */
export function traceOfLine(): object {
  const traceId = currentTraceId();
  return traceId === null ? {} : { traceId };
}
