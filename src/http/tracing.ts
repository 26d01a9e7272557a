import { currentTraceId, traceEntry } from '../core/trace.js';
import type { Exchange } from './exchange.js';

/** Runs a request in a span of its sender's trace, or of a new one. */
export function tracedExchange(exchange: Exchange, answer: () => Promise<number>): Promise<number> {
  const { method, requestId, request } = exchange;
  const attributes = { 'http.request.method': method, 'request.id': requestId };
  return traceEntry(
    { name: method, kind: 'server', attributes },
    request.headers.traceparent,
    async (span) => {
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
    },
  );
}

export function traceOfLine(): object {
  const traceId = currentTraceId();
  return traceId === null ? {} : { traceId };
}
