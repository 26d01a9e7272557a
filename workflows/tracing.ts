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

/** Where the SDK's interceptors look for the trace. */
const HEADER = '_tracer-data';

type Inbound = WorkflowInboundCallsInterceptor;
type Outbound = WorkflowOutboundCallsInterceptor;

/** A workflow or signal without a trace begins none. */
class InTraces extends OpenTelemetryInboundInterceptor {
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

/** Neither do its own calls. */
class OutOfTraces extends OpenTelemetryOutboundInterceptor {
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

/** All tracing of workflows: only in the bundle for workers that trace. */
export const interceptors = (): WorkflowInterceptors => ({
  inbound: [new InTraces()],
  outbound: [new OutOfTraces()],
  internals: [new OpenTelemetryInternalsInterceptor()],
});
