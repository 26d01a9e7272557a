import {
  ActivityCancellationType,
  allHandlersFinished,
  CancellationScope,
  condition,
  continueAsNew,
  defineQuery,
  defineSignal,
  proxyActivities,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { WebhookActivities } from '../activities/webhooks.js';
import {
  type DrainState,
  ENDPOINT_SIGNALS,
  type EndpointAct,
  QUERIES,
  SIGNALS,
  type WebhookWorkflowInput,
} from '../src/temporal/contracts.js';
import { ATTEMPT, Notice, SIGNED_INPUT, StaffMail, View } from './common.js';

/**
 * A look that sends heartbeats every second; one that is silent for 5 s is lost, and another takes over what it had not
 * recorded. A canceled one is awaited: what it has in flight is recorded before anybody else sends.
 */
const { attendEndpoint } = proxyActivities<WebhookActivities>({
  startToCloseTimeout: '2 minutes',
  heartbeatTimeout: '5 seconds',
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry: { initialInterval: '1 second', maximumInterval: '1 minute' },
});
const { actOnEndpoint } = proxyActivities<WebhookActivities>(ATTEMPT);

/**
 * A webhook endpoint, from its registration to its deletion. Its id: `webhook/{endpointId}`. The workers' senders send
 * the events; this workflow waits for retries, and lets people look, pause and resume. It is told only of changes to
 * that, so while its endpoint is healthy it sleeps.
 */
export async function webhookEndpoint(input: WebhookWorkflowInput): Promise<DrainState> {
  const { endpointId } = input;
  const inbox = { isWoken: true };
  let draining: CancellationScope | null = null;
  const notice = new Notice(input);
  const statusOf = ({ isPaused, status }: DrainState): string => (isPaused ? 'paused' : status);
  const view = new View(notice, statusOf, ({ waitingFor }) => waitingFor);
  setHandler(defineSignal(SIGNALS.changed), () => void (inbox.isWoken = true), {
    description: 'It stands otherwise than before.',
  });
  setHandler(defineQuery<DrainState | null>(QUERIES.state), () => view.state, {
    description: 'What it waits for.',
  });
  const mail = new StaffMail();
  for (const action of ENDPOINT_SIGNALS)
    setHandler(
      defineSignal<[unknown]>(action),
      async (given) => {
        const act: EndpointAct = { endpointId, action, ...mail.read(action, given) };
        const refused = await actOnEndpoint(act);
        view.acted(act, refused);
        if (refused !== null) return;
        if (action === 'pause') draining?.cancel();
        inbox.isWoken = true;
      },
      { description: `${action.replace('_', ' ')}. ${SIGNED_INPUT}` },
    );

  const whole = CancellationScope.current();
  const wasWoken = (): boolean => inbox.isWoken;
  for (;;) {
    inbox.isWoken = false;
    const scope = new CancellationScope();
    draining = scope;
    const state = await scope
      .run(() => attendEndpoint(endpointId))
      .catch((failure: unknown) => {
        // A look ended by a pause has no result. Canceling the whole workflow ends it; the next announcement starts it
        // again.
        if (whole.consideredCancelled || !scope.consideredCancelled) throw failure;
        return null;
      });
    draining = null;
    if (state === null) continue;
    view.found(state);
    if (workflowInfo().continueAsNewSuggested) {
      await condition(allHandlersFinished);
      await continueAsNew<typeof webhookEndpoint>(notice.handOn(input));
    }
    await condition(() => wasWoken() || allHandlersFinished());
    if (wasWoken()) continue;
    if (state.isOver) return state;
    if (state.nextDueAt === null) await condition(wasWoken);
    else await condition(wasWoken, Math.max(Date.parse(state.nextDueAt) - Date.now(), 1));
  }
}
