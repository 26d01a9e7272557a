import {
  ActivityCancellationType,
  allHandlersFinished,
  CancellationScope,
  condition,
  continueAsNew,
  defineQuery,
  defineSignal,
  patched,
  proxyActivities,
  setHandler,
  sleep,
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
const { attendEndpoint, drainEndpoint } = proxyActivities<WebhookActivities>({
  startToCloseTimeout: '2 minutes',
  heartbeatTimeout: '5 seconds',
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry: { initialInterval: '1 second', maximumInterval: '1 minute' },
});
const { actOnEndpoint } = proxyActivities<WebhookActivities>(ATTEMPT);

/** For older runs: another drain holds the endpoint. */
const TAKEN_OVER_PAUSE = '10 seconds';
const PAUSED_LOOK = '1 day';

/**
 * The patch from which on events are sent without the workflow, and the one from which on an older run continues as a
 * new one.
 */
const SENT_FROM_THE_LOG = 'sent-from-the-log';
const GONE_OVER = 'gone-over';

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
  setHandler(defineQuery<DrainState | null>(QUERIES.state), () => view.state, { description: 'What it waits for.' });
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
  const isOfToday = patched(SENT_FROM_THE_LOG);
  for (;;) {
    inbox.isWoken = false;
    const scope = new CancellationScope();
    draining = scope;
    const state = await scope
      .run(() => (isOfToday ? attendEndpoint(endpointId) : drainEndpoint(endpointId)))
      .catch((failure: unknown) => {
        // A look ended by a pause has no result. Canceling the whole workflow ends it; the next announcement starts it
        // again.
        if (whole.consideredCancelled || !scope.consideredCancelled) throw failure;
        return null;
      });
    draining = null;
    if (state === null) continue;
    view.found(state);
    // An older run continues as a new one as soon as it has looked.
    if (workflowInfo().continueAsNewSuggested || (!isOfToday && patched(GONE_OVER))) {
      await condition(allHandlersFinished);
      await continueAsNew<typeof webhookEndpoint>(notice.handOn(input));
    }
    if (isOfToday) {
      await condition(() => wasWoken() || allHandlersFinished());
      if (wasWoken()) continue;
      if (state.isOver === true) return state;
      if (state.nextDueAt === null) await condition(wasWoken);
      else await condition(wasWoken, Math.max(Date.parse(state.nextDueAt) - Date.now(), 1));
      continue;
    }
    if (wasWoken() || state.ended === 'time' || state.ended === 'stopped') continue;
    if (state.ended === 'taken_over') {
      await sleep(TAKEN_OVER_PAUSE);
      continue;
    }
    await condition(allHandlersFinished);
    if (wasWoken()) continue;
    if (state.isPaused && state.status !== 'deleted') await condition(wasWoken, PAUSED_LOOK);
    else if (state.nextDueAt === null) return state;
    else await condition(wasWoken, Math.max(Date.parse(state.nextDueAt) - Date.now(), 1));
  }
}
