import type { StaffSignals } from '../src/staff/signals.js';
import type {
  StaffActionResult,
  ApprovalState,
  StaffActionSignal,
} from '../src/temporal/contracts.js';
import { goneActionResult, goneApproval, orGone } from './gone.js';
import type { TransferApprovals } from '../src/transfers/approval-outcomes.js';

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
