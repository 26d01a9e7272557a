import { Context } from '@temporalio/activity';
import { asUuid } from '../src/core/ids.js';
import type { StaffSignals } from '../src/staff/signals.js';
import type { DrainState, EndpointAct } from '../src/temporal/contracts.js';
import { attend, type WorkflowsKept } from '../src/webhooks/attending.js';
import type { WebhookDeps } from '../src/webhooks/deps.js';
import { actBySignal } from '../src/webhooks/signals.js';

/** What the workflow of a webhook endpoint has done. One that is given up cannot write, and what it sent unrecorded is sent again. */
export interface WebhookActivities {
  /** Sends what waited for its time, and says what the endpoint waits for now. */
  attendEndpoint(endpointId: string): Promise<DrainState>;
  /** The same, by its name of before: for workflows that still send by themselves. */
  drainEndpoint(endpointId: string): Promise<DrainState>;
  /** Answers why it was refused, or null. */
  actOnEndpoint(act: EndpointAct): Promise<string | null>;
}

const ATTEND_MS = 30_000;

/** `stopping` ends the sending of a process that is told to stop: no new send begins. */
export function webhookActivities(
  deps: WebhookDeps,
  signals: StaffSignals,
  stopping: AbortSignal,
  kept: WorkflowsKept,
): WebhookActivities {
  const look = (endpointId: string): Promise<DrainState> => {
    const context = Context.current();
    const signal = AbortSignal.any([context.cancellationSignal, stopping]);
    const options = { signal, heartbeat: () => context.heartbeat(), maxMs: ATTEND_MS };
    return attend(deps, asUuid(endpointId), options, kept);
  };
  return { attendEndpoint: look, drainEndpoint: look, actOnEndpoint: (act) => actBySignal(deps, act, signals) };
}
