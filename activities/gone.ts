import { ApiError } from '../src/core/errors.js';
import { toRfc3339, systemClock } from '../src/core/instant.js';
import type { StaffActionResult, ApprovalState, BatchState } from '../src/temporal/contracts.js';

/** Status that ends a workflow whose resource was lost in a restore of the database. */
const GONE = 'gone';
export const GONE_REASON = 'it does not exist: the database was put back to an earlier moment';

export function goneApproval(): ApprovalState {
  return { status: GONE, required: 0, received: 0, expiresAt: toRfc3339(systemClock()) };
}

export function goneActionResult(): StaffActionResult {
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
