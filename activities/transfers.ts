import type { StaffSignals } from '../src/staff/signals.js';
import type {
  StaffActionResult,
  ApprovalState,
  StaffActionSignal,
} from '../src/temporal/contracts.js';
import { goneAct, goneApproval, orGone } from './gone.js';
import type { TransferApprovals } from '../src/transfers/approval-outcomes.js';

/**
 * Activities of a transfer's workflow. Each may be repeated or late, because the row's state in
 * MySQL decides.
 */
export interface TransferActivities {
  readTransfer(transferId: string): Promise<ApprovalState>;
  actOnTransfer(act: StaffActionSignal): Promise<StaffActionResult>;
  /** Expires the transfer if that is due. */
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
