import {
  allHandlersFinished,
  condition,
  continueAsNew,
  defineQuery,
  defineSignal,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { BatchActivities } from '../activities/batches.js';
import {
  BATCH_SIGNALS,
  type BatchActionSignal,
  type BatchState,
  type BatchWorkflowInput,
  QUERIES,
  SIGNALS,
} from '../src/temporal/contracts.js';
import {
  ATTEMPT,
  describedActivities,
  Notice,
  SIGNED_INPUT,
  SignalReader,
  View,
} from './common.js';

/**
 * Activities that send a heartbeat every 2 s. After 10 s without one, an activity is lost with its
 * worker, and its retry continues from the rows' current states.
 */
const LONG_WORK = {
  startToCloseTimeout: '30 minutes',
  heartbeatTimeout: '10 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '1 minute' },
} as const;

const { validateBatch, payBatch } = describedActivities<
  Pick<BatchActivities, 'validateBatch' | 'payBatch'>
>(LONG_WORK, {
  validateBatch: 'Validate the file of the batch',
  payBatch: 'Pay the next rows of the batch',
});
const { readBatch, actOnBatch } = describedActivities<
  Pick<BatchActivities, 'readBatch' | 'actOnBatch'>
>(ATTEMPT, {
  readBatch: 'Read the batch',
  actOnBatch: 'Apply an action of the staff to the batch',
});

/**
 * State after the upload, known without reading it. Most batches are validated in the first
 * activity.
 */
const UPLOADED: BatchState = {
  status: 'validating',
  amount: null,
  rows: 0,
  rejected: 0,
  paid: 0,
  failed: 0,
  isPaused: false,
  pauseReason: null,
  rejection: null,
};

/** Pause when MySQL did not return the remaining rows. Doubles each time. */
const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 60_000;
/** Summaries of the timers. */
const RETRY = { summary: 'Retry: MySQL did not return the remaining rows' };
const CHECK = { summary: 'Regular check of the batch' };

/**
 * Workflow of a batch of bonuses, from its upload to its end. Validates the file, waits for
 * execution, and pays row by row in file order. Its id is `bonus-batch/{id}`. The progress is in
 * MySQL, and the workflow continues from there.
 */
export async function bonusBatch(input: BatchWorkflowInput): Promise<BatchState> {
  const { status: startedAs, ...lasting } = input;
  const { batchId } = lasting;
  const inbox = { isChanged: true };
  const isChanged = (): boolean => inbox.isChanged;
  const notice = new Notice(input);
  const view = new View<BatchState>(
    notice,
    ({ status }) => status,
    detailsOf,
    ({ amount }) => amount,
  );
  setHandler(defineSignal(SIGNALS.changed), () => void (inbox.isChanged = true), {
    description: 'It changed elsewhere: look again.',
  });
  setHandler(defineQuery<BatchState | null>(QUERIES.state), () => view.state, {
    description: 'Where it stands.',
  });
  const mail = new SignalReader();
  for (const action of BATCH_SIGNALS)
    setHandler(
      defineSignal<[unknown]>(action),
      async (given) => {
        const act: BatchActionSignal = { batchId, action, ...mail.read(action, given) };
        view.recordResult(act, await actOnBatch(act));
        inbox.isChanged = true;
      },
      {
        description: `${action} the batch${action === 'cancel' ? ': one that is ready is withdrawn' : ' while it is paid'}. ${SIGNED_INPUT}`,
      },
    );

  let pauseMs = FIRST_PAUSE_MS;
  for (let state = startedAs === UPLOADED.status ? UPLOADED : await readBatch(batchId); ;) {
    view.update(state);
    // Reset before the row is read, so that a later change is noticed.
    if (state.status === 'validating') {
      inbox.isChanged = false;
      state = await validateBatch(batchId);
    } else if (state.status === 'executing' && !state.isPaused) {
      inbox.isChanged = false;
      const payment = await payBatch(batchId);
      state = payment.state;
      view.update(state);
      if (payment.end === 'unavailable') await condition(isChanged, pauseMs, RETRY);
      pauseMs =
        payment.end === 'unavailable' ? Math.min(pauseMs * 2, MAX_PAUSE_MS) : FIRST_PAUSE_MS;
    } else {
      await condition(allHandlersFinished);
      if (state.status !== 'ready' && state.status !== 'executing') return state;
      await condition(isChanged, lasting.lookAgainMs, CHECK);
      inbox.isChanged = false;
      state = await readBatch(batchId);
    }
    if (workflowInfo().continueAsNewSuggested) {
      await condition(allHandlersFinished);
      await continueAsNew<typeof bonusBatch>(notice.nextInput(lasting));
    }
  }
}

function detailsOf({
  status,
  rows,
  rejected,
  paid,
  failed,
  isPaused,
  pauseReason,
  rejection,
}: BatchState): string {
  const progress = `${paid} of ${rows} rows paid, ${failed} failed`;
  switch (status) {
    case 'validating':
      return 'Reading the file.';
    case 'ready':
      return `Waiting for somebody to execute it: ${rows} rows.`;
    case 'executing':
      return isPaused
        ? `Paused (${pauseReason ?? 'no reason is known'}): ${progress}. Waiting to be resumed or canceled.`
        : `Paying: ${progress}.`;
    case 'rejected':
      if (rejection === 'withdrawn')
        return 'Withdrawn before it was executed. Nothing is waited for.';
      if (rejection === 'lapsed')
        return 'Lapsed: nobody executed it in time. Nothing is waited for.';
      return `Rejected: ${rejected} of ${rows} rows have problems. Nothing is waited for.`;
    default:
      return `The batch is ${status}: ${progress}. Nothing is waited for.`;
  }
}
