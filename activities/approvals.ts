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
import type { PayoutSubmitter, SubmissionResult } from '../src/payouts/rail-calls.js';
import type { PayoutApprovals } from '../src/payouts/decide.js';

/** Status that ends a workflow whose resource was lost in a restore of the database. */
export const GONE = 'gone';
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

/** Returns the result of `work`, or of `fallback` if `work` throws `not_found`. */
export async function orGone<T>(work: Promise<T>, fallback: () => T): Promise<T> {
  try {
    return await work;
  } catch (failure) {
    if (failure instanceof ApiError && failure.refusal.code === 'not_found') return fallback();
    throw failure;
  }
}

/** Temporal may run each activity twice or late: the row's state decides what it does. */
function approvalActivities(
  approvals: Pick<TransferApprovals, 'state' | 'performSignal' | 'expire'>,
  signals: StaffSignals,
) {
  return {
    read: (id: string) => orGone(approvals.state(id), goneApproval),
    act: (signal: StaffActionSignal) =>
      orGone(approvals.performSignal(signal, signals), goneActionResult),
    expire: (id: string) => orGone(approvals.expire(id), goneApproval),
  };
}

export function transferActivities(approvals: TransferApprovals, signals: StaffSignals) {
  const { read, act, expire } = approvalActivities(approvals, signals);
  return { readTransfer: read, actOnTransfer: act, expireTransfer: expire };
}
export type TransferActivities = ReturnType<typeof transferActivities>;

export function payoutActivities(
  approvals: PayoutApprovals,
  submitter: PayoutSubmitter,
  signals: StaffSignals,
) {
  const { read, act, expire } = approvalActivities(approvals, signals);
  const approvalSteps = { readPayout: read, actOnPayout: act, expirePayout: expire };
  return { ...approvalSteps, ...railActivities(approvals, submitter) };
}
export type PayoutActivities = ReturnType<typeof payoutActivities>;

/**
 * Builds the activities that call a rail. In their result, `isHeld` means that nothing was done, and
 * `isFrozen` that this is because the account may not send, `isUnresolved` because the rail did not
 * say who holds the key.
 */
export function railActivities(approvals: PayoutApprovals, submitter: PayoutSubmitter) {
  const stateOf = async (submitted: Promise<SubmissionResult>): Promise<ApprovalState> => {
    const { payout, isHeld, isFrozen, isUnresolved } = await submitted;
    return {
      ...approvals.stateOf(payout),
      ...(isHeld ? { isHeld } : {}),
      ...(isFrozen ? { isFrozen } : {}),
      ...(isUnresolved === undefined ? {} : { isUnresolved }),
    };
  };
  return {
    submitPayout: (payoutId: string) =>
      orGone(stateOf(submitter.submit(asUuid(payoutId))), goneApproval),
    askRail: (payoutId: string) => orGone(stateOf(submitter.poll(asUuid(payoutId))), goneApproval),
  };
}
export type RailActivities = ReturnType<typeof railActivities>;
