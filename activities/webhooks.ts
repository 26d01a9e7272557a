import { Context } from '@temporalio/activity';
import { asUuid } from '../src/core/ids.js';
import type { StaffSignals } from '../src/staff/signals.js';
import type { DrainState, EndpointAct } from '../src/temporal/contracts.js';
import { attend } from '../src/webhooks/attending.js';
import type { WebhookDeps } from '../src/webhooks/deps.js';
import { actBySignal } from '../src/webhooks/signals.js';

/**
 * The activities of a webhook endpoint's workflow. An abandoned one cannot write, and what it sent without recording is
 * sent again.
 */
export interface WebhookActivities {
  /** Sends what was due, and says what the endpoint waits for now. */
  attendEndpoint(endpointId: string): Promise<DrainState>;
  /** Returns why it was refused, or null. */
  actOnEndpoint(act: EndpointAct): Promise<string | null>;
}

const ATTEND_MS = 30_000;

/** `stopping` is aborted when the process stops: no new send begins. */
export function webhookActivities(
  deps: WebhookDeps,
  signals: StaffSignals,
  stopping: AbortSignal,
): WebhookActivities {
  const attendEndpoint = (endpointId: string): Promise<DrainState> => {
    const context = Context.current();
    const signal = AbortSignal.any([context.cancellationSignal, stopping]);
    const options = { signal, heartbeat: () => context.heartbeat(), maxMs: ATTEND_MS };
    return attend(deps, asUuid(endpointId), options);
  };
  return { attendEndpoint, actOnEndpoint: (act) => actBySignal(deps, act, signals) };
}
