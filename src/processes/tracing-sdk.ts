import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { Resource } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  BasicTracerProvider,
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace-base';
import type { WorkflowClientInterceptor } from '@temporalio/client';
import {
  makeWorkflowExporter,
  OpenTelemetryActivityInboundInterceptor,
  OpenTelemetryWorkflowClientInterceptor,
} from '@temporalio/interceptors-opentelemetry';
import type { ActivityInboundCallsInterceptor } from '@temporalio/worker';
import { withTimeout } from '../core/timers.js';
import { currentTraceparent } from '../core/trace.js';
import { packageVersion } from '../http/metrics.js';
import type { TemporalTracing } from '../temporal/workers.js';

export interface Tracing {
  readonly temporal: TemporalTracing;
  /** Exports the last spans, for at most two seconds. */
  stop(): Promise<void>;
}

interface TracingOptions {
  /** For example `http://collector:4318`. */
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Share of the traces that are recorded, from 0 to 1. */
  readonly share: number;
  readonly service: string;
}

const EXPORT_TIMEOUT_MS = 5_000;
const EXPORT_EVERY_MS = 1_000;
const LAST_EXPORT_MS = 2_000;
/** Queued spans. More are dropped, so an unreachable collector costs only traces. */
const MAX_QUEUED_SPANS = 8_192;

export function startTracing({ endpoint, headers, share, service }: TracingOptions): Tracing {
  const resource = new Resource({
    'service.name': 'money-movement',
    'service.namespace': 'money-movement',
    'service.version': packageVersion(),
    'service.instance.id': `${service}-${process.pid}`,
    'money_movement.process': service,
  });
  const exporter = new OTLPTraceExporter({
    url: `${endpoint.replace(/\/+$/, '')}/v1/traces`,
    headers: { ...headers },
    timeoutMillis: EXPORT_TIMEOUT_MS,
  });
  const queue = { maxQueueSize: MAX_QUEUED_SPANS, scheduledDelayMillis: EXPORT_EVERY_MS };
  const processor = new BatchSpanProcessor(exporter, queue);
  // Applies to traces of clients too, because a client could set the sampled flag on every request.
  const byId = new TraceIdRatioBasedSampler(share);
  const sampler = new ParentBasedSampler({
    root: byId,
    remoteParentSampled: byId,
    remoteParentNotSampled: new AlwaysOffSampler(),
  });
  const provider = new BasicTracerProvider({ resource, sampler, spanProcessors: [processor] });
  provider.register({
    contextManager: new AsyncLocalStorageContextManager().enable(),
    propagator: new W3CTraceContextPropagator(),
  });
  return {
    temporal: {
      client: [tracedClient()],
      activity: (context) => ({
        inbound: tracedActivity(new OpenTelemetryActivityInboundInterceptor(context)),
      }),
      sinks: { exporter: makeWorkflowExporter(processor, resource) },
    },
    stop: () =>
      withTimeout(LAST_EXPORT_MS, () => provider.shutdown().catch(() => undefined), undefined),
  };
}

/** Header in which the SDK's interceptors pass the trace. */
const HEADER = '_tracer-data';

/** Traces only calls within a trace. The SDK's own interceptor would begin one for any other call. */
function tracedClient(): WorkflowClientInterceptor {
  const traced = new OpenTelemetryWorkflowClientInterceptor();
  const isInside = (): boolean => currentTraceparent() !== null;
  return {
    signalWithStart: (input, next) =>
      isInside() ? traced.signalWithStart(input, next) : next(input),
    signal: (input, next) => (isInside() ? traced.signal(input, next) : next(input)),
  };
}

function tracedActivity(
  traced: OpenTelemetryActivityInboundInterceptor,
): ActivityInboundCallsInterceptor {
  return {
    execute: (input, next) => (HEADER in input.headers ? traced.execute(input, next) : next(input)),
  };
}
