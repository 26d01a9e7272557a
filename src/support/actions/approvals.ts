import { APPROVAL_ACTIONS, type ApprovalAction } from '../../approvals/rules.js';
import type { Approvals } from '../../approvals/service.js';
import { ApiError } from '../../core/errors.js';
import type { Transfer } from '../../db/entities/operations.js';
import type { Payout } from '../../db/entities/payouts.js';
import type { DeskDeps } from '../deps.js';
import type { DeskAction } from './action.js';

const LABELS: Readonly<Record<ApprovalAction, string>> = {
  approve: 'Approve',
  reject: 'Reject',
  cancel: 'Cancel',
};

const EXPLANATIONS: Readonly<Record<ApprovalAction, string>> = {
  approve:
    'Records the approval of support. Support counts as one approver, whoever on the staff approves. The last approval moves the money.',
  reject:
    'Ends it against the wish of the requester. No money leaves the account. The tenant can read the reason.',
  cancel:
    'Ends it because the requester no longer wants it. No money leaves the account. The tenant can read the reason.',
};

/** Returns the actions on a resource that waits. `rowOf` returns its row from the page's data. */
export function approvalActions<Shown, Row extends Transfer | Payout>(
  noun: Row extends Payout ? 'payout' : 'transfer',
  approvalsOf: (deps: DeskDeps) => Approvals<Row>,
  rowOf: (shown: Shown) => Row,
): readonly DeskAction<Shown>[] {
  return APPROVAL_ACTIONS.map((action) => ({
    verb: action,
    name: `${noun}.${action}` as const,
    label: LABELS[action],
    explanation: EXPLANATIONS[action],
    ...(action === 'approve' ? {} : { isStop: true as const }),
    isOpen: (shown) => {
      const { status } = rowOf(shown);
      return status === 'pending_approval' || (action === 'cancel' && status === 'approved');
    },
    recordsRefusals: true,
    run: async (deps, shown, { by, reason, actId }) => {
      const { outcome } = await approvalsOf(deps).performByStaff(
        rowOf(shown),
        action,
        by,
        reason,
        actId,
      );
      if (!outcome.done) throw new ApiError(outcome.refusal);
    },
  }));
}
