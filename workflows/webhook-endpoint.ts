import { allHandlersFinished, condition, continueAsNew, workflowInfo } from '@temporalio/workflow';
import type { WebhookActivities } from '../activities/index.js';
import {
  type EndpointView,
  ENDPOINT_SIGNALS,
  type WebhookWorkflowInput,
} from '../src/temporal/contracts.js';
import { ATTEMPT, describedActivities, Notice, setHandlers, View } from './common.js';

const { checkEndpoint, actOnEndpoint } = describedActivities<WebhookActivities>(ATTEMPT, {
  checkEndpoint: 'Read the endpoint, and mark it as due if its backoff has ended',
  actOnEndpoint: 'Apply an action of the staff to the endpoint',
});
const BACKOFF = { summary: 'Backoff of the endpoint until its next attempt' };

/**
 * A webhook endpoint, `webhook/{endpointId}`, until its deletion. It waits for the backoff of a
 * failing endpoint and then marks it as due; the dispatchers send.
 */
export async function webhookEndpoint(input: WebhookWorkflowInput): Promise<EndpointView> {
  const { endpointId } = input;
  const inbox = { isWoken: true };
  const notice = new Notice(input);
  const statusOf = ({ isPaused, status }: EndpointView): string => (isPaused ? 'paused' : status);
  const view = new View(notice, statusOf, ({ waitingFor }) => waitingFor);
  setHandlers({
    actions: ENDPOINT_SIGNALS,
    onAction: async (signal) => {
      const refused = await actOnEndpoint({ endpointId, ...signal });
      view.recordResult(signal, refused);
      if (refused === null) inbox.isWoken = true;
    },
    onChanged: () => void (inbox.isWoken = true),
    stateOf: () => view.state,
    describe: (action) => action.replace('_', ' '),
    changed: "The endpoint's state has changed: check it again.",
    state: 'What the endpoint waits for.',
  });

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
