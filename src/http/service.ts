import Koa from 'koa';
import type { Registry } from 'prom-client';
import { ERRORS } from '../core/error-table.js';
import { traceEntry } from '../core/trace.js';
import { ClientAddresses } from './client-addresses.js';
import type { Api } from './route.js';
import {
  assertWellFormed,
  apiRouter,
  type InboundRoute,
  inboundRouter,
  refuseUnmatched,
  type RequestState,
} from './router.js';
import { type DocsOptions, DocsSite } from './docs.js';
import { type ErrorWriter, errorResponse } from './errors.js';
import { completedRequest, type CompletedRequest, Exchange } from './exchange.js';
import { describeFault, type Logger } from './logging.js';
import { type HttpMetrics, httpMetrics } from './metrics.js';
import { handleRequest, type PipelineDeps, takeRate } from './pipeline.js';
import { BODY_TIMEOUTS, RequestAborted } from './request-body.js';
import { sendFile, sendJson } from './send.js';
import { UploadSlots } from './upload-slots.js';

interface ServiceOptions
  extends
    DocsOptions,
    Omit<PipelineDeps, 'addresses' | 'uploads' | 'bodyTimeouts'>,
    Partial<Pick<PipelineDeps, 'bodyTimeouts'>> {
  readonly api: Api;
  /** Routes for senders without a token, such as the callbacks of rails. */
  readonly inbound?: readonly InboundRoute[];
  readonly trustedProxies: readonly string[];
  readonly errors: ErrorWriter;
  readonly logger: Logger;
  readonly registry: Registry;
  readonly onAnswered?: (answered: CompletedRequest) => void;
  readonly isTraced?: boolean;
}

interface ServiceDeps extends PipelineDeps, Omit<ServiceOptions, keyof PipelineDeps> {
  readonly metrics: HttpMetrics;
}

/** The status that proxies use for a client that disconnected before the response. */
const CLIENT_GONE = 499;

/** The application of the API's port: the routes, and the files of the docs. */
export function createService(options: ServiceOptions): Koa {
  const { api } = options;
  const docs = new DocsSite(options);
  const deps: ServiceDeps = {
    bodyTimeouts: BODY_TIMEOUTS,
    ...options,
    uploads: new UploadSlots(),
    addresses: new ClientAddresses(options.trustedProxies),
    metrics: httpMetrics(options.registry),
  };
  const routing = apiRouter(api.routes, async (exchange, route, params) => {
    exchange.apiResponse = await handleRequest(deps, exchange, route, params);
  });
  const app = new Koa<RequestState>();
  // Only broken connections; other faults have been answered and logged.
  app.on('error', (fault: unknown) =>
    deps.logger.debug({ fault: describeFault(fault) }, 'connection failed'),
  );
  app.use(async (context, next) => {
    const exchange = new Exchange(context.req, context.res);
    context.state.exchange = exchange;
    // Koa itself cuts the path at a '#'.
    context.newRouterPath = exchange.path;
    // sendJson writes a response in one piece, which is faster than Koa.
    context.respond = false;
    const respond = async (): Promise<number> => {
      const status = await answer(deps, exchange, context, next);
      finish(deps, exchange, status);
      return status;
    };
    await (deps.isTraced === true ? tracedExchange(exchange, respond) : respond());
  });
  app.use((context, next) => docs.serve(context, next));
  app.use(routing);
  app.use(inboundRouter(options.inbound ?? []).routes());
  app.use(refuseUnmatched);
  return app;
}

/** Runs a request in a span of its sender's trace, or of a new one. */
function tracedExchange(exchange: Exchange, answer: () => Promise<number>): Promise<number> {
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

async function answer(
  deps: ServiceDeps,
  exchange: Exchange,
  page: Koa.Context,
  next: Koa.Next,
): Promise<number> {
  try {
    assertWellFormed(exchange);
    await next();
    if (exchange.apiResponse === null) return page.status;
    const { status, body, file, headers } = exchange.apiResponse;
    if (file !== undefined) await sendFile(exchange, status, file, headers ?? {});
    else
      sendJson(exchange, status, body === undefined ? null : JSON.stringify(body), headers ?? {});
    return status;
  } catch (thrown) {
    return answerError(deps, exchange, thrown);
  }
}

async function answerError(
  deps: ServiceDeps,
  exchange: Exchange,
  thrown: unknown,
): Promise<number> {
  if (thrown instanceof RequestAborted) {
    exchange.response.destroy();
    return CLIENT_GONE;
  }
  if (exchange.route === null) await takeRate(deps, exchange);
  const isKeyed = exchange.route !== null && exchange.route.idempotent !== null;
  const { refusal, headers, isFault } = errorResponse(thrown, isKeyed);
  exchange.code = refusal.code;
  deps.metrics.errors.inc({ code: refusal.code });
  if (isFault) {
    deps.metrics.faults.inc();
    deps.logger.error(
      {
        requestId: exchange.requestId,
        tokenId: exchange.caller?.tokenKeyId,
        fault: describeFault(thrown),
      },
      'a request failed because of an internal error',
    );
  } else if (refusal.code === 'ledger_unavailable')
    exchange.fault = thrown instanceof Error ? thrown.name : null;
  const { status } = ERRORS[refusal.code];
  // Closing the connection shows that a file is incomplete.
  if (exchange.response.headersSent) exchange.response.destroy();
  else sendJson(exchange, status, deps.errors.text(refusal), headers);
  return status;
}

function finish(deps: ServiceDeps, exchange: Exchange, status: number): void {
  const { method, routeName, caller, requestId, fault } = exchange;
  const elapsedMs = performance.now() - exchange.beganAt;
  deps.metrics.durations.labels(method, routeName, String(status)).observe(elapsedMs / 1000);
  const answered = completedRequest(exchange, status);
  if (answered !== null) deps.onAnswered?.(answered);
  deps.logger.info(
    {
      requestId,
      tenantId: caller?.tenantId ?? null,
      tokenId: caller?.tokenKeyId ?? null,
      method,
      route: routeName,
      status,
      ms: Math.round(elapsedMs * 100) / 100,
      fault,
    },
    'answered',
  );
}
