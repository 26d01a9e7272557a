import type { StaffSignals } from '../src/staff/signals.js';
import type { ActResult, ApprovalState, StaffAct } from '../src/temporal/contracts.js';
import { goneAct, goneApproval, orGone } from './gone.js';
import type { TransferApprovals } from '../src/transfers/approval-outcomes.js';

/** What a transfer's workflow does in MySQL. The row's state is the guard, so running twice or late does no harm. */
export interface TransferActivities {
  readTransfer(transferId: string): Promise<ApprovalState>;
  actOnTransfer(act: StaffAct): Promise<ActResult>;
  /** Expires it if it is due. */
  expireTransfer(transferId: string): Promise<ApprovalState>;
}

export function transferActivities(
  approvals: TransferApprovals,
  signals: StaffSignals,
): TransferActivities {
  return {
    readTransfer: (transferId) => orGone(approvals.state(transferId), goneApproval),
    actOnTransfer: (act) => orGone(approvals.actBySignal(act, signals), goneAct),
    expireTransfer: (transferId) => orGone(approvals.expire(transferId), goneApproval),
  };
}
