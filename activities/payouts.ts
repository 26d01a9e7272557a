import { asUuid } from '../src/core/ids.js';
import type { RailTurns, Turn } from '../src/payouts/turns.js';
import type { StaffSignals } from '../src/staff/signals.js';
import type { ActResult, ApprovalState, StaffAct } from '../src/temporal/contracts.js';
import { goneAct, goneApproval, orGone } from './gone.js';
import type { PayoutApprovals } from '../src/payouts/approval-outcomes.js';

/** What a payout's workflow does in MySQL. The row's state is the guard, so running twice or late does no harm. */
export interface PayoutActivities extends RailActivities {
  readPayout(payoutId: string): Promise<ApprovalState>;
  actOnPayout(act: StaffAct): Promise<ActResult>;
  /** Expires it if it is due. */
  expirePayout(payoutId: string): Promise<ApprovalState>;
}

/**
 * What it does at the rail. If the rail does not answer, or the account may not send, nothing is done, and the state says
 * so.
 */
export interface RailActivities {
  /** Hands an approved payout to its rail. */
  submitPayout(payoutId: string): Promise<ApprovalState>;
  /** Asks the rail for the outcome. */
  askRail(payoutId: string): Promise<ApprovalState>;
}

export function payoutActivities(
  approvals: PayoutApprovals,
  turns: RailTurns,
  signals: StaffSignals,
): PayoutActivities {
  return {
    readPayout: (payoutId) => orGone(approvals.state(payoutId), goneApproval),
    actOnPayout: (act) => orGone(approvals.actBySignal(act, signals), goneAct),
    expirePayout: (payoutId) => orGone(approvals.expire(payoutId), goneApproval),
    ...railActivities(approvals, turns),
  };
}

export function railActivities(approvals: PayoutApprovals, turns: RailTurns): RailActivities {
  const done = async (turn: Promise<Turn>): Promise<ApprovalState> => {
    const { payout, isHeld, isFrozen = false } = await turn;
    return {
      ...approvals.stateOf(payout),
      ...(isHeld ? { isHeld } : {}),
      ...(isFrozen ? { isFrozen } : {}),
    };
  };
  return {
    submitPayout: (payoutId) => orGone(done(turns.submit(asUuid(payoutId))), goneApproval),
    askRail: (payoutId) => orGone(done(turns.ask(asUuid(payoutId))), goneApproval),
  };
}
