import {
  allHandlersFinished,
  condition,
  continueAsNew,
  defineQuery,
  defineSignal,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { WebhookActivities } from '../activities/webhooks.js';
import {
  type EndpointView,
  ENDPOINT_SIGNALS,
  type EndpointActionSignal,
  QUERIES,
  SIGNALS,
  type WebhookWorkflowInput,
} from '../src/temporal/contracts.js';
import {
  ATTEMPT,
  describedActivities,
  Notice,
  SIGNED_INPUT,
  SignalReader,
  View,
} from './common.js';

const { checkEndpoint, actOnEndpoint } = describedActivities<WebhookActivities>(ATTEMPT, {
  checkEndpoint: 'Read the endpoint, and mark it as due if its backoff has ended',
  actOnEndpoint: 'Apply an action of the staff to the endpoint',
});
/** Summary of the timer that ends with the backoff. */
const BACKOFF = { summary: 'Backoff of the endpoint until its next attempt' };

/**
 * A webhook endpoint, from its registration to its deletion. Its id: `webhook/{endpointId}`. The
 * workers' dispatchers send; this workflow waits for the backoff of a failing endpoint and then
 * marks the endpoint as due. Staff query, pause and resume it. It is notified only of changes to
 * that, so while its endpoint is healthy it sleeps.
 */
export async function webhookEndpoint(input: WebhookWorkflowInput): Promise<EndpointView> {
  const { endpointId } = input;
  const inbox = { isWoken: true };
  const notice = new Notice(input);
  const statusOf = ({ isPaused, status }: EndpointView): string => (isPaused ? 'paused' : status);
  const view = new View(notice, statusOf, ({ waitingFor }) => waitingFor);
  setHandler(defineSignal(SIGNALS.changed), () => void (inbox.isWoken = true), {
    description: 'It stands otherwise than before.',
  });
  setHandler(defineQuery<EndpointView | null>(QUERIES.state), () => view.state, {
    description: 'What it waits for.',
  });
  const mail = new SignalReader();
  for (const action of ENDPOINT_SIGNALS)
    setHandler(
      defineSignal<[unknown]>(action),
      async (given) => {
        const act: EndpointActionSignal = { endpointId, action, ...mail.read(action, given) };
        const refused = await actOnEndpoint(act);
        view.recordResult(act, refused);
        if (refused !== null) return;
        inbox.isWoken = true;
      },
      { description: `${action.replace('_', ' ')}. ${SIGNED_INPUT}` },
    );

  const wasWoken = (): boolean => inbox.isWoken;
  for (;;) {
    inbox.isWoken = false;
    const state = await checkEndpoint(endpointId);
    view.update(state);
    if (workflowInfo().continueAsNewSuggested) {
      await condition(allHandlersFinished);
      await continueAsNew<typeof webhookEndpoint>(notice.nextInput(input));
    }
    await condition(() => wasWoken() || allHandlersFinished());
    if (wasWoken()) continue;
    if (state.isOver) return state;
    if (state.nextDueAt === null) await condition(wasWoken);
    else await condition(wasWoken, Math.max(Date.parse(state.nextDueAt) - Date.now(), 1), BACKOFF);
  }
}
