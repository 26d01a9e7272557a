import { asyncLocalStorage } from '@temporalio/activity';
import type { WorkflowClientInterceptor } from '@temporalio/client';
import type { OpenTelemetrySinks } from '@temporalio/interceptors-opentelemetry/lib/workflow/definitions.js';
import type { ActivityInterceptorsFactory, InjectedSinks } from '@temporalio/worker';

export interface TemporalTracing {
  readonly client: readonly WorkflowClientInterceptor[];
  readonly activity: ActivityInterceptorsFactory;
  /** Workflows export spans through sinks, because they cannot use the network. */
  readonly sinks: InjectedSinks<OpenTelemetrySinks>;
}

/** Returns the fields that a log line has when it is written by an activity. */
export function activityOfLine(): object {
  const context = asyncLocalStorage.getStore();
  if (context === undefined) return {};
  const { activityType: activity, workflowExecution, attempt } = context.info;
  return { workflowId: workflowExecution?.workflowId, activity, attempt };
}
