import {
  ActivityFailure,
  condition,
  continueAsNew,
  TimeoutFailure,
  workflowInfo,
} from '@temporalio/workflow';
import type { PayoutActivities, RailActivities } from '../activities/approvals.js';
import {
  type ApprovalState,
  type PayoutWorkflowInput,
  railQueue,
} from '../src/temporal/contracts.js';
import { waitForApproval, WorkflowInterface } from './approval.js';
import { ATTEMPT, clockTime, describedActivities } from './common.js';
import { counted } from '../src/core/collections.js';

const { readPayout, actOnPayout, expirePayout } = describedActivities<
  Omit<PayoutActivities, keyof RailActivities>
>(ATTEMPT, {
  readPayout: 'Read the payout',
  actOnPayout: 'Apply a decision of support to the payout',
  expirePayout: 'Read the payout, and expire it if it is due',
});
/** A rail has 10 s for each of two responses, and a command 4 s in MySQL before and after. */
const RAIL_ATTEMPT = { ...ATTEMPT, startToCloseTimeout: '30 seconds' } as const;
/** A task that waits longer than this shows that no worker serves the queue. */
const MAX_TIME_IN_QUEUE = '10 minutes';
/** Steps added to the backoff of held payouts, whose workflow is notified when the rail responds. */
const HELD_STEPS = 8;

/** A payout, `payout/{id}`, from its creation to its end. */
export async function payout(input: PayoutWorkflowInput): Promise<ApprovalState> {
  const { resourceId } = input;
  let polls = input.asked ?? 0;
  let nextAt = 0;
  const ui = new WorkflowInterface('payout', input, (state) => waitsFor(state, polls, nextAt));
  const activities = { read: readPayout, perform: actOnPayout, expire: expirePayout };
  let state: ApprovalState = await waitForApproval(ui, input, activities, () =>
    continueAsNew<typeof payout>(ui.nextInput(input)),
  );
  for (;;) {
    const pauseMs = pauseOf(state, polls, input);
    nextAt = Date.now() + pauseMs;
    const handled = await ui.handleSignal(activities, resourceId);
    if (handled !== null) state = handled;
    else if (state.status === 'approved' && state.isHeld !== true)
      state = ui.update(await submitOrPoll(resourceId, state));
    else if (state.status !== 'approved' && state.status !== 'in_progress') return state;
    else {
      if (workflowInfo().continueAsNewSuggested)
        await continueAsNew<typeof payout>(ui.nextInput({ ...input, asked: polls }));
      ui.update(state);
      const summary =
        state.status === 'approved' ? 'Next attempt to submit the payout' : 'Next status request';
      if (await condition(() => ui.hasSignals, pauseMs, { summary })) continue;
      const after = await submitOrPoll(resourceId, state);
      const isAsked = state.status === 'in_progress' && after.isHeld !== true;
      if (isAsked || after.isUnresolved === true) polls += 1;
      state = ui.update(after);
    }
  }
}

async function submitOrPoll(
  resourceId: string,
  { status, rail }: ApprovalState,
): Promise<ApprovalState> {
  const queue =
    rail === undefined
      ? {}
      : { taskQueue: railQueue(rail), scheduleToStartTimeout: MAX_TIME_IN_QUEUE };
  const named = rail === undefined ? 'its rail' : `the rail ${rail}`;
  const { submitPayout, askRail } = describedActivities<RailActivities>(
    { ...RAIL_ATTEMPT, ...queue },
    {
      submitPayout: `Submit the payout to ${named}`,
      askRail: `Ask ${named} for the outcome of the payout`,
    },
  );
  try {
    return await (status === 'approved' ? submitPayout(resourceId) : askRail(resourceId));
  } catch (failure) {
    if (!wasNotServed(failure)) throw failure;
    // The rail may have been removed from the configuration.
    return { ...(await readPayout(resourceId)), isHeld: true, isServed: false };
  }
}

function wasNotServed(failure: unknown): boolean {
  return (
    failure instanceof ActivityFailure &&
    failure.cause instanceof TimeoutFailure &&
    failure.cause.timeoutType === 'SCHEDULE_TO_START'
  );
}

/** Returns the pause before the next poll, which doubles with each poll up to `longestMs`. */
function pauseOf(
  { status, isHeld, isUnresolved, isServed = true }: ApprovalState,
  polls: number,
  { polling: { firstMs, longestMs }, lookAgainMs }: PayoutWorkflowInput,
): number {
  // The workflow is notified when the rail responds; this checks in case a notification was lost.
  const isNotified = isHeld === true && isUnresolved !== true;
  if (isNotified && isServed && status === 'approved') return lookAgainMs;
  const steps = isNotified ? polls + HELD_STEPS : polls;
  return Math.min(longestMs, firstMs * 2 ** Math.min(steps, 20));
}

function waitsFor(
  { status, isHeld, isFrozen, isUnresolved }: ApprovalState,
  polls: number,
  nextAt: number,
): string | null {
  if (isFrozen === true)
    return status === 'approved'
      ? 'Its account may not send: it is submitted as soon as the account may. Until then it can be canceled.'
      : 'Its rail does not have it, and its account may not send: it is submitted again as soon as the account may.';
  if (status === 'approved' && isUnresolved === true)
    return 'Its rail does not say who holds its key: it is asked again. Until then it can be canceled.';
  if (status === 'approved')
    return isHeld === true
      ? 'Its rail does not respond: it is submitted as soon as the rail responds. Until then it can be canceled.'
      : 'It is approved, and about to be handed to its rail; it can still be canceled.';
  if (status !== 'in_progress') return null;
  if (isHeld === true)
    return 'Its rail does not respond: it is asked for the outcome as soon as it responds.';
  const next = nextAt === 0 ? 'soon' : `at ${clockTime(new Date(nextAt))}`;
  return `Waiting for the rail to report the outcome; asked ${counted(polls, 'time')}, next ${next}.`;
}
