import { asUuid } from '../src/core/ids.js';
import type { SubmissionQueue, SubmissionResult } from '../src/payouts/rail-calls.js';
import type { StaffSignals } from '../src/staff/signals.js';
import type {
  StaffActionResult,
  ApprovalState,
  StaffActionSignal,
} from '../src/temporal/contracts.js';
import { goneActionResult, goneApproval, orGone } from './gone.js';
import type { PayoutApprovals } from '../src/payouts/decide.js';

/** Temporal may run each activity twice or late: the row's state decides what it does. */
export interface PayoutActivities extends RailActivities {
  readPayout(payoutId: string): Promise<ApprovalState>;
  actOnPayout(signal: StaffActionSignal): Promise<StaffActionResult>;
  expirePayout(payoutId: string): Promise<ApprovalState>;
}

/** `isHeld` in the result means that nothing was done. */
export interface RailActivities {
  submitPayout(payoutId: string): Promise<ApprovalState>;
  askRail(payoutId: string): Promise<ApprovalState>;
}

export function payoutActivities(
  approvals: PayoutApprovals,
  queue: SubmissionQueue,
  signals: StaffSignals,
): PayoutActivities {
  return {
    readPayout: (payoutId) => orGone(approvals.state(payoutId), goneApproval),
    actOnPayout: (signal) => orGone(approvals.performSignal(signal, signals), goneActionResult),
    expirePayout: (payoutId) => orGone(approvals.expire(payoutId), goneApproval),
    ...railActivities(approvals, queue),
  };
}

export function railActivities(approvals: PayoutApprovals, queue: SubmissionQueue): RailActivities {
  const stateOf = async (submitted: Promise<SubmissionResult>): Promise<ApprovalState> => {
    const { payout, isHeld, isFrozen } = await submitted;
    return {
      ...approvals.stateOf(payout),
      ...(isHeld ? { isHeld } : {}),
      ...(isFrozen ? { isFrozen } : {}),
    };
  };
  return {
    submitPayout: (payoutId) => orGone(stateOf(queue.submit(asUuid(payoutId))), goneApproval),
    askRail: (payoutId) => orGone(stateOf(queue.poll(asUuid(payoutId))), goneApproval),
  };
}
