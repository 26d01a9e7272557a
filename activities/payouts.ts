import { asUuid } from '../src/core/ids.js';
import type { PayoutApprovals } from '../src/payouts/approvals.js';
import type { Submissions } from '../src/payouts/submission.js';
import type { StaffSignals } from '../src/staff/signals.js';
import type { ActResult, ApprovalState, StaffAct } from '../src/temporal/contracts.js';

/** What the workflow of a payout has done in MySQL and at the rail. The row's state is the guard: twice or late does no harm. */
export interface PayoutActivities {
  readPayout(payoutId: string): Promise<ApprovalState>;
  actOnPayout(act: StaffAct): Promise<ActResult>;
  /** Settles it if its time is over. */
  expirePayout(payoutId: string): Promise<ApprovalState>;
  /** Hands an approved one to its rail. */
  submitPayout(payoutId: string): Promise<ApprovalState>;
  /** Asks the rail what became of it. */
  askRail(payoutId: string): Promise<ApprovalState>;
}

export function payoutActivities(
  approvals: PayoutApprovals,
  submissions: Submissions,
  signals: StaffSignals,
): PayoutActivities {
  return {
    readPayout: (payoutId) => approvals.state(payoutId),
    actOnPayout: (act) => approvals.actBySignal(act, signals),
    expirePayout: (payoutId) => approvals.expire(payoutId),
    submitPayout: async (payoutId) => approvals.stateOf(await submissions.submit(asUuid(payoutId))),
    askRail: async (payoutId) => approvals.stateOf(await submissions.ask(asUuid(payoutId))),
  };
}
