import { asyncLocalStorage } from '@temporalio/activity';
import type { WorkflowClientInterceptor } from '@temporalio/client';
import type { OpenTelemetrySinks } from '@temporalio/interceptors-opentelemetry/lib/workflow/definitions.js';
import type { ActivityInterceptorsFactory, InjectedSinks } from '@temporalio/worker';

/** How a trace gets into workflows and out of them again. */
export interface TemporalTracing {
  readonly client: readonly WorkflowClientInterceptor[];
  readonly activity: ActivityInterceptorsFactory;
  /** By which workflows, which reach nothing themselves, give their parts away. */
  readonly sinks: InjectedSinks<OpenTelemetrySinks>;
}

/** What a line of the log names of the activity that it is said in. */
export function activityOfLine(): object {
  const context = asyncLocalStorage.getStore();
  if (context === undefined) return {};
  const { activityType: activity, workflowExecution, attempt } = context.info;
  return { workflowId: workflowExecution?.workflowId, activity, attempt };
}
