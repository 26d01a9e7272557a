import { trace } from '@opentelemetry/api';
import {
  OpenTelemetryInboundInterceptor,
  OpenTelemetryInternalsInterceptor,
  OpenTelemetryOutboundInterceptor,
} from '@temporalio/interceptors-opentelemetry/lib/workflow/index.js';
import type {
  ActivityInput,
  ContinueAsNewInput,
  Next,
  QueryInput,
  SignalInput,
  WorkflowExecuteInput,
  WorkflowInboundCallsInterceptor,
  WorkflowInterceptors,
  WorkflowOutboundCallsInterceptor,
} from '@temporalio/workflow';

/** Header in which the SDK's interceptors pass the trace. */
const HEADER = '_tracer-data';

type Inbound = WorkflowInboundCallsInterceptor;
type Outbound = WorkflowOutboundCallsInterceptor;

/** Continues the caller's trace, and does not start a new one. */
class InboundTracing extends OpenTelemetryInboundInterceptor {
  override execute(input: WorkflowExecuteInput, next: Next<Inbound, 'execute'>): Promise<unknown> {
    return HEADER in input.headers ? super.execute(input, next) : next(input);
  }

  override handleQuery(input: QueryInput, next: Next<Inbound, 'handleQuery'>): Promise<unknown> {
    return HEADER in input.headers ? super.handleQuery(input, next) : next(input);
  }

  override handleSignal(input: SignalInput, next: Next<Inbound, 'handleSignal'>): Promise<void> {
    return HEADER in input.headers ? super.handleSignal(input, next) : next(input);
  }
}

/** Does not start a trace for the calls of a workflow that has none. */
class OutboundTracing extends OpenTelemetryOutboundInterceptor {
  override scheduleActivity(
    input: ActivityInput,
    next: Next<Outbound, 'scheduleActivity'>,
  ): Promise<unknown> {
    return trace.getActiveSpan() === undefined ? next(input) : super.scheduleActivity(input, next);
  }

  override continueAsNew(
    input: ContinueAsNewInput,
    next: Next<Outbound, 'continueAsNew'>,
  ): Promise<never> {
    return trace.getActiveSpan() === undefined ? next(input) : super.continueAsNew(input, next);
  }
}

/** Tracing of workflows, included only in the bundle for workers that trace. */
export const interceptors = (): WorkflowInterceptors => ({
  inbound: [new InboundTracing()],
  outbound: [new OutboundTracing()],
  internals: [new OpenTelemetryInternalsInterceptor()],
});
