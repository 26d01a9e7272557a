import { Context } from '@temporalio/activity';
import { asUuid } from '../src/core/ids.js';
import type { StaffSignals } from '../src/staff/signals.js';
import type { DrainState, EndpointAct } from '../src/temporal/contracts.js';
import { drain } from '../src/webhooks/drain/drain.js';
import { describe } from '../src/webhooks/operating.js';
import type { WebhookParts } from '../src/webhooks/parts.js';
import { actBySignal } from '../src/webhooks/signals.js';

/** What the workflow of a webhook endpoint has done. An abandoned drain cannot write, and what it sent unrecorded is sent again. */
export interface WebhookActivities {
  /** Sends what is due, at most so long; looks a little longer for what comes meanwhile. */
  drainEndpoint(endpointId: string): Promise<DrainState>;
  /** Answers why it was refused, or null. */
  actOnEndpoint(act: EndpointAct): Promise<string | null>;
}

const DRAIN_MS = 30_000;
const LOOK_ON_MS = 2_000;

/** `stopping` ends the drains of a process that is told to stop: no new send begins. */
export function webhookActivities(
  parts: WebhookParts,
  signals: StaffSignals,
  stopping: AbortSignal,
): WebhookActivities {
  return {
    drainEndpoint: async (endpointId) => {
      const id = asUuid(endpointId);
      const context = Context.current();
      const { ended, nextDueAt } = await drain(parts, id, {
        signal: AbortSignal.any([context.cancellationSignal, stopping]),
        heartbeat: () => context.heartbeat(),
        maxMs: DRAIN_MS,
        lookOnMs: LOOK_ON_MS,
      });
      const { endpoint, text } = await describe(parts.database.reader, id, parts.clock());
      return { ended, nextDueAt, status: endpoint.status, isPaused: endpoint.pausedAt !== null, waitingFor: text };
    },
    actOnEndpoint: (act) => actBySignal(parts, act, signals),
  };
}
