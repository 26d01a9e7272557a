import { condition, continueAsNew, proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { PayoutActivities } from '../activities/payouts.js';
import type { ApprovalState, PayoutWorkflowInput } from '../src/temporal/contracts.js';
import { Front, waitForApproval } from './approval.js';
import { ATTEMPT, clockTime } from './common.js';

const { readPayout, actOnPayout, expirePayout } = proxyActivities<PayoutActivities>(ATTEMPT);
/** A rail has 10 s for each answer, and may be asked twice; a command has 4 s in MySQL before and after. */
const { submitPayout, askRail } = proxyActivities<PayoutActivities>({ ...ATTEMPT, startToCloseTimeout: '30 seconds' });

/**
 * A payout, from its creation to its end: it waits for approvals, is handed to its rail, and waits until somebody says what
 * became of it: the rail by itself, the rail when it is asked, or an operator. What nobody knows is asked for ever, ever more
 * rarely. Its id: `payout/{id}`.
 */
export async function payout(input: PayoutWorkflowInput): Promise<ApprovalState> {
  const { resourceId, polling } = input;
  let asked = input.asked ?? 0;
  let nextAt = 0;
  const front = new Front('payout', input, ({ status }) => waitsFor(status, asked, nextAt));
  const activities = { read: readPayout, act: actOnPayout, expire: expirePayout };
  let state: ApprovalState = await waitForApproval(front, input, activities, () =>
    continueAsNew<typeof payout>(front.handOn(input)),
  );
  for (;;) {
    const pauseMs = pauseBefore(asked, polling);
    nextAt = Date.now() + pauseMs;
    const told = await front.readMail(activities, resourceId);
    if (told !== null) state = told;
    else if (state.status === 'approved') state = front.found(await submitPayout(resourceId));
    else if (state.status !== 'in_progress') return state;
    else {
      if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof payout>(front.handOn({ ...input, asked }));
      front.found(state);
      if (await condition(() => front.hasMail, pauseMs)) continue;
      asked += 1;
      state = front.found(await askRail(resourceId));
    }
  }
}

/** Each pause is twice the last. */
function pauseBefore(asked: number, { firstMs, longestMs }: PayoutWorkflowInput['polling']): number {
  return Math.min(longestMs, firstMs * 2 ** Math.min(asked, 20));
}

function waitsFor(status: string, asked: number, nextAt: number): string | null {
  if (status === 'approved') return 'It is approved, and about to be handed to its rail; it can still be canceled.';
  if (status !== 'in_progress') return null;
  const next = nextAt === 0 ? 'soon' : `at ${clockTime(new Date(nextAt))}`;
  return `Waiting for the rail to say what became of it; asked ${asked} time(s), next ${next}.`;
}
