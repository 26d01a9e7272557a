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
  sleep,
  upsertSearchAttributes,
  uuid4,
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
import { ATTEMPT, BUSINESS_STATUS, Notice, SIGNED_INPUT, StaffMail } from './common.js';

/**
 * A drain beats every second; one that is silent for 5 s is lost, and another one takes over what it had not recorded. One that is
 * canceled is waited for: what it has on its way is recorded before anybody else sends.
 */
const { drainEndpoint } = proxyActivities<WebhookActivities>({
  startToCloseTimeout: '2 minutes',
  heartbeatTimeout: '5 seconds',
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry: { initialInterval: '1 second', maximumInterval: '1 minute' },
});
const { actOnEndpoint } = proxyActivities<WebhookActivities>(ATTEMPT);

/** Another drain holds the endpoint: it looks again when that one has ended or was lost. */
const TAKEN_OVER_PAUSE = '10 seconds';
/** Should nobody have told it that its endpoint was deleted meanwhile. */
const PAUSED_LOOK = '1 day';

/**
 * The deliveries of one endpoint, for as long as it has something to do. Its id: `webhook/{endpointId}`. It sends what is due,
 * waits for the next retry or a wake-up, and ends when it is idle; the next due delivery begins it again. One that is paused
 * stays, so that it can be resumed here.
 */
export async function webhookEndpoint(input: WebhookWorkflowInput): Promise<DrainState> {
  const { endpointId } = input;
  const inbox = { isWoken: true };
  let draining: CancellationScope | null = null;
  const notice = new Notice(input);
  const view = new View(notice);
  setHandler(defineSignal(SIGNALS.changed), () => void (inbox.isWoken = true), {
    description: 'Something became due.',
  });
  setHandler(defineQuery<DrainState | null>(QUERIES.state), () => view.state, { description: 'What it waits for.' });
  const mail = new StaffMail();
  for (const action of ENDPOINT_SIGNALS)
    setHandler(
      defineSignal<[unknown]>(action),
      async (given) => {
        const act: EndpointAct = { endpointId, action, ...mail.read(action, given), actId: uuid4() };
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
      .run(() => drainEndpoint(endpointId))
      .catch((failure: unknown) => {
        // A drain that a pause has ended says nothing. Who cancels the whole workflow ends it; what is due begins it again.
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

/** What people see of the workflow. */
class View {
  state: DrainState | null = null;

  constructor(private readonly notice: Notice) {}

  found(state: DrainState): void {
    this.state = state;
    const status = state.isPaused ? 'paused' : state.status;
    if (workflowInfo().typedSearchAttributes.get(BUSINESS_STATUS) !== status)
      upsertSearchAttributes([{ key: BUSINESS_STATUS, value: status }]);
    this.show();
  }

  acted(act: EndpointAct, refused: string | null): void {
    if (refused === null) return;
    this.notice.refused(act, refused);
    this.show();
  }

  private show(): void {
    this.notice.show(this.state?.waitingFor ?? '');
  }
}
