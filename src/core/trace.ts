import {
  type Attributes,
  context,
  defaultTextMapGetter,
  isSpanContextValid,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
} from '@opentelemetry/api';

/** Only `traceEntry` begins a trace. (docs/operations/monitoring.md, Traces) */

/** W3C: `00-<trace id>-<span id>-01` */
export type Traceparent = string;

const NAME = 'money-movement';
const KINDS = {
  internal: SpanKind.INTERNAL,
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
} as const;

interface NewSpan {
  /** Without ids. */
  readonly name: string;
  readonly kind?: keyof typeof KINDS;
  /** Ids, kinds, counts and states; never text written by people or personal data. */
  readonly attributes?: Attributes;
}

/** The trace context for work that leaves the process or waits in MySQL; null if not sampled. */
export function currentTraceparent(): Traceparent | null {
  const span = trace.getSpanContext(context.active());
  return span === undefined || !isSampled(span) ? null : toTraceparent(span);
}

export function currentTraceId(): string | null {
  const span = trace.getSpanContext(context.active());
  return span === undefined || !isSampled(span) ? null : span.traceId;
}

type SpanContext = ReturnType<Span['spanContext']>;

function isSampled(span: SpanContext): boolean {
  return isSpanContextValid(span) && (span.traceFlags & TraceFlags.SAMPLED) !== 0;
}

function toTraceparent({ traceId, spanId }: SpanContext): Traceparent {
  return `00-${traceId}-${spanId}-01`;
}

export function traceHeaders(): Readonly<Record<string, string>> {
  const traceparent = currentTraceparent();
  return traceparent === null ? {} : { traceparent };
}

/** Begins a trace, or continues that of the received `traceparent`, unless it is invalid. */
export function traceEntry<T>(
  part: NewSpan,
  traceparent: unknown,
  work: (span: Span) => Promise<T>,
): Promise<T> {
  return runInSpan(
    part,
    typeof traceparent === 'string' ? contextOf(traceparent) : ROOT_CONTEXT,
    work,
  );
}

export function runTraced<T>(part: NewSpan, work: () => Promise<T>): Promise<T> {
  return currentTraceparent() === null ? work() : runInSpan(part, context.active(), work);
}

/** Runs work in the trace of a stored `traceparent`, or outside any trace if none was stored. */
export function continueTrace<T>(
  part: NewSpan,
  traceparent: Traceparent | null | undefined,
  work: (span: Span | null) => Promise<T>,
): Promise<T> {
  if (traceparent === null || traceparent === undefined) return untraced(() => work(null));
  return runInSpan(part, contextOf(traceparent), work);
}

/** Runs work that a request started but that is not part of its trace. */
export function untraced<T>(work: () => T): T {
  return context.with(ROOT_CONTEXT, work);
}

/** Begins a span of the current trace, which the caller ends. Returns null outside a trace. */
export function beginSpan({ name, attributes }: NewSpan): OpenSpan | null {
  if (currentTraceparent() === null) return null;
  const span = trace
    .getTracer(NAME)
    .startSpan(name, attributes === undefined ? {} : { attributes });
  return {
    traceparent: toTraceparent(span.spanContext()),
    setAttributes: (more) => void span.setAttributes(more),
    end: () => span.end(),
  };
}

export interface OpenSpan {
  readonly traceparent: Traceparent;
  setAttributes(attributes: Attributes): void;
  end(): void;
}

function contextOf(traceparent: Traceparent): typeof ROOT_CONTEXT {
  return propagation.extract(ROOT_CONTEXT, { traceparent }, defaultTextMapGetter);
}

function runInSpan<T>(
  { name, kind = 'internal', attributes = {} }: NewSpan,
  parent: typeof ROOT_CONTEXT,
  work: (span: Span) => Promise<T>,
): Promise<T> {
  return trace
    .getTracer(NAME)
    .startActiveSpan(name, { kind: KINDS[kind], attributes }, parent, async (span) => {
      try {
        return await work(span);
      } catch (failure) {
        // Only the error's name, because messages may quote private data.
        span.setStatus({
          code: SpanStatusCode.ERROR,
          message: failure instanceof Error ? failure.name : 'failure',
        });
        throw failure;
      } finally {
        span.end();
      }
    });
}
