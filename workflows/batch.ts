import { allHandlersFinished, condition, continueAsNew, workflowInfo } from '@temporalio/workflow';
import type { BatchActivities } from '../activities/batches.js';
import {
  BATCH_SIGNALS,
  type BatchState,
  type BatchWorkflowInput,
} from '../src/temporal/contracts.js';
import { ATTEMPT, describedActivities, Notice, setHandlers, View } from './common.js';

/** After 10 s without a heartbeat a retry continues from the rows' states. */
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

/** The state after the upload, with which the workflow starts without reading it. */
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

/** Pause before rows are paid again. Doubles each time MySQL does not return the remaining rows. */
const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 60_000;
const RETRY = { summary: 'Retry: MySQL did not return the remaining rows' };
const CHECK = { summary: 'Regular check of the batch' };

/** A batch of bonuses, `bonus-batch/{id}`, from its upload to its end. The progress is in MySQL. */
export async function bonusBatch(input: BatchWorkflowInput): Promise<BatchState> {
  return await runBatch(input, 'paid', continueAsNew<typeof bonusBatch>);
}

/** A batch of payouts, `payout-batch/{id}`. Its payouts have workflows of their own. */
export async function payoutBatch(input: BatchWorkflowInput): Promise<BatchState> {
  return await runBatch(input, 'made into payouts', continueAsNew<typeof payoutBatch>);
}

async function runBatch(
  input: BatchWorkflowInput,
  done: string,
  continueRun: (input: BatchWorkflowInput) => Promise<never>,
): Promise<BatchState> {
  const { status: startedAs, ...continuedInput } = input;
  const { batchId } = continuedInput;
  const inbox = { isChanged: true };
  const isChanged = (): boolean => inbox.isChanged;
  const notice = new Notice(input);
  const view = new View<BatchState>(
    notice,
    ({ status }) => status,
    (state) => detailsOf(state, done),
    ({ amount }) => amount,
  );
  setHandlers({
    actions: BATCH_SIGNALS,
    onAction: async (signal) => {
      view.recordResult(signal, await actOnBatch({ batchId, ...signal }));
      inbox.isChanged = true;
    },
    onChanged: () => void (inbox.isChanged = true),
    stateOf: () => view.state,
    describe: (action) =>
      `${action} the batch${action === 'cancel' ? ': one that is ready is withdrawn' : ' while it is paid'}`,
    changed: "The batch's state has changed: read it again.",
    state: "The batch's state.",
  });

  let pauseMs = FIRST_PAUSE_MS;
  for (let state = startedAs === UPLOADED.status ? UPLOADED : await readBatch(batchId); ;) {
    view.update(state);
    // Reset before the read, so that a later change is noticed.
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
      await condition(isChanged, continuedInput.lookAgainMs, CHECK);
      inbox.isChanged = false;
      state = await readBatch(batchId);
    }
    if (workflowInfo().continueAsNewSuggested) {
      await condition(allHandlersFinished);
      await continueRun(notice.nextInput(continuedInput));
    }
  }
}

function detailsOf(state: BatchState, done: string): string {
  const { status, rows, rejected, rejection } = state;
  const progress = `${state.paid} of ${rows} rows ${done}, ${state.failed} failed`;
  switch (status) {
    case 'validating':
      return 'Reading the file.';
    case 'ready':
      return `Waiting for somebody to execute it: ${rows} rows.`;
    case 'executing':
      return state.isPaused
        ? `Paused (${state.pauseReason ?? 'no reason is known'}): ${progress}. Waiting to be resumed or canceled.`
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
