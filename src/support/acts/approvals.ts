import type { ApprovalAction } from '../../approvals/rules.js';
import type { Transfer } from '../../db/entities/operations.js';
import type { Payout } from '../../db/entities/payouts.js';
import { assertDone, type DeskAct } from './act.js';

/** Acts on what waits for approval. */

const LABELS: Readonly<Record<ApprovalAction, string>> = { approve: 'Approve', reject: 'Reject', cancel: 'Cancel' };

const EXPLANATIONS: Readonly<Record<ApprovalAction, string>> = {
  approve:
    'Gives one approval for support, which counts once whoever of the staff gives it. With the last one that it needs, the money moves.',
  reject: 'Ends it against the wish of whoever asked for it. Nothing leaves the account. The tenant reads the reason.',
  cancel:
    'Ends it because whoever asked for it no longer wants it. Nothing leaves the account. The tenant reads the reason.',
};

const PENDING = 'pending_approval';

export const TRANSFER_ACTS: readonly DeskAct<Transfer>[] = (['approve', 'reject', 'cancel'] as const).map((action) => ({
  ...described(action),
  name: `transfer.${action}`,
  isOpen: ({ status }) => status === PENDING,
  recordsRefusals: true,
  run: async ({ transferApprovals }, transfer, { by, reason, actId }) =>
    assertDone((await transferApprovals.actByStaff(transfer, action, by, reason, actId)).outcome),
}));

export const PAYOUT_APPROVAL_ACTS: readonly DeskAct<Payout>[] = (['approve', 'reject', 'cancel'] as const).map(
  (action) => ({
    ...described(action),
    name: `payout.${action}`,
    isOpen: ({ status }) => status === PENDING || (action === 'cancel' && status === 'approved'),
    recordsRefusals: true,
    run: async ({ payoutApprovals }, payout, { by, reason, actId }) =>
      assertDone((await payoutApprovals.actByStaff(payout, action, by, reason, actId)).outcome),
  }),
);

function described(action: ApprovalAction): Pick<DeskAct<never>, 'verb' | 'label' | 'explanation' | 'isStop'> {
  const stop = action === 'approve' ? {} : ({ isStop: true } as const);
  return { verb: action, label: LABELS[action], explanation: EXPLANATIONS[action], ...stop };
}
