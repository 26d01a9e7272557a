import { ApiError } from '../src/core/errors.js';
import { systemClock, toRfc3339 } from '../src/core/instant.js';
import type {
  ApprovalState,
  BatchState,
  StaffActionResult,
  StaffActionSignal,
} from '../src/temporal/contracts.js';
import type { StaffSignals } from '../src/staff/verification.js';
import type { TransferApprovals } from '../src/transfers/approval-outcomes.js';
import { asUuid } from '../src/core/ids.js';
import type { SubmissionQueue, SubmissionResult } from '../src/payouts/rail-calls.js';
import type { PayoutApprovals } from '../src/payouts/decide.js';

/** Status that ends a workflow whose resource was lost in a restore of the database. */
const GONE = 'gone';
export const GONE_REASON = 'it does not exist: the database was put back to an earlier moment';

function goneApproval(): ApprovalState {
  return { status: GONE, required: 0, received: 0, expiresAt: toRfc3339(systemClock()) };
}

function goneActionResult(): StaffActionResult {
  return { state: goneApproval(), refused: GONE_REASON };
}

export function goneBatch(): BatchState {
  const none = { rows: 0, rejected: 0, paid: 0, failed: 0 };
  const nothing = { amount: null, pauseReason: null, rejection: null };
  return { ...none, ...nothing, status: GONE, isPaused: false };
}

/** Returns the result of `work`, or of `gone` if `work` throws `not_found`. */
export async function orGone<T>(work: Promise<T>, gone: () => T): Promise<T> {
  try {
    return await work;
  } catch (failure) {
    if (failure instanceof ApiError && failure.refusal.code === 'not_found') return gone();
    throw failure;
  }
}

/** Temporal may run each activity twice or late: the row's state decides what it does. */
export interface TransferActivities {
  readTransfer(transferId: string): Promise<ApprovalState>;
  actOnTransfer(signal: StaffActionSignal): Promise<StaffActionResult>;
  expireTransfer(transferId: string): Promise<ApprovalState>;
}

export function transferActivities(
  approvals: TransferApprovals,
  signals: StaffSignals,
): TransferActivities {
  return {
    readTransfer: (transferId) => orGone(approvals.state(transferId), goneApproval),
    actOnTransfer: (signal) => orGone(approvals.performSignal(signal, signals), goneActionResult),
    expireTransfer: (transferId) => orGone(approvals.expire(transferId), goneApproval),
  };
}

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
