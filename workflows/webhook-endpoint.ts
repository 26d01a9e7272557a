import {
  allHandlersFinished,
  CancellationScope,
  condition,
  continueAsNew,
  defineQuery,
  defineSignal,
  isCancellation,
  proxyActivities,
  setCurrentDetails,
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
import { ATTEMPT, BUSINESS_STATUS, clockTime, readAct } from './common.js';

/** A drain beats every second; one that is silent for 5 s is lost, and another one takes over what it had not recorded. */
const { drainEndpoint } = proxyActivities<WebhookActivities>({
  startToCloseTimeout: '2 minutes',
  heartbeatTimeout: '5 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '1 minute' },
});
const { actOnEndpoint } = proxyActivities<WebhookActivities>(ATTEMPT);

/** Another drain holds the endpoint: it looks again when that one has ended or was lost. */
const TAKEN_OVER_PAUSE = '10 seconds';

/**
 * The deliveries of one endpoint, for as long as it has something to do. Its id: `webhook/{endpointId}`. It sends what is due,
 * waits for the next retry or a wake-up, and ends when it is idle; the next due delivery begins it again. One that is paused
 * stays, so that it can be resumed here.
 */
export async function webhookEndpoint(input: WebhookWorkflowInput): Promise<DrainState> {
  const { endpointId } = input;
  const inbox = { isWoken: true };
  let draining: CancellationScope | null = null;
  const view = new View();
  setHandler(defineSignal(SIGNALS.changed), () => void (inbox.isWoken = true), {
    description: 'Something became due.',
  });
  setHandler(defineQuery<DrainState | null>(QUERIES.state), () => view.state, { description: 'What it waits for.' });
  for (const action of ENDPOINT_SIGNALS)
    setHandler(
      defineSignal<[unknown]>(action),
      async (given) => {
        const act: EndpointAct = { endpointId, action, ...readAct(given), actId: uuid4() };
        view.acted(act, await actOnEndpoint(act));
        if (action === 'pause') draining?.cancel();
        inbox.isWoken = true;
      },
      { description: `${action.replace('_', ' ')}. Input: {"actor": "<your name as staff>", "reason": "<why>"}` },
    );

  const wasWoken = (): boolean => inbox.isWoken;
  for (;;) {
    inbox.isWoken = false;
    const scope = new CancellationScope();
    draining = scope;
    const state = await scope.run(() => drainEndpoint(endpointId)).catch(ignoreCancellation);
    draining = null;
    if (state === null) continue;
    view.found(state);
    if (wasWoken() || state.ended === 'time' || state.ended === 'stopped') continue;
    if (state.ended === 'taken_over') {
      await sleep(TAKEN_OVER_PAUSE);
      continue;
    }
    await condition(allHandlersFinished);
    if (wasWoken()) continue;
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof webhookEndpoint>(input);
    if (state.isPaused) await condition(wasWoken);
    else if (state.nextDueAt === null) return state;
    else await condition(wasWoken, Math.max(Date.parse(state.nextDueAt) - Date.now(), 1));
  }
}

function ignoreCancellation(failure: unknown): null {
  if (isCancellation(failure)) return null;
  throw failure;
}

/** What people see of the workflow. */
class View {
  state: DrainState | null = null;
  private lastRefusal: string | null = null;

  found(state: DrainState): void {
    this.state = state;
    const status = state.isPaused ? 'paused' : state.status;
    if (workflowInfo().typedSearchAttributes.get(BUSINESS_STATUS) !== status)
      upsertSearchAttributes([{ key: BUSINESS_STATUS, value: status }]);
    this.show();
  }

  acted({ action, actor }: EndpointAct, refused: string | null): void {
    if (refused === null) return;
    this.lastRefusal = `Refused at ${clockTime(new Date())}: ${action} by ${actor ?? 'nobody'}: ${refused}.`;
    this.show();
  }

  private show(): void {
    const waitingFor = this.state?.waitingFor ?? '';
    setCurrentDetails(this.lastRefusal === null ? waitingFor : `${waitingFor}\n\n${this.lastRefusal}`);
  }
}
