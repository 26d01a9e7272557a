import { NOT_FOUND, type Refusal } from '../core/errors.js';
import { type Transfer, transfers } from '../db/entities/operations.js';
import { tenants } from '../db/entities/parties.js';
import { creditRefusal, findRecipient } from '../accounts/payments.js';
import { capabilityRefusal } from '../accounts/rules.js';
import type { ApprovalFeature, Ending } from '../approvals/decide.js';
import type { Approvals } from '../approvals/service.js';
import type { LockedState } from '../ledger/writer/types.js';
import { completion, endEvent } from './decide.js';
import { formatAmount } from '../core/amount.js';
import {
  type ApprovalWorkflowInput,
  type ResourceInput,
  transferWorkflowId,
} from '../temporal/contracts.js';
import { workflowResource } from '../temporal/workflow-resources.js';
import { counted } from '../core/collections.js';

/** FROM and WHERE for transfers with a hold. Holds are few, so the search begins with them. */
const WAITING_TRANSFERS = `holds h FORCE INDEX (expiring) STRAIGHT_JOIN transfers t ON t.id=h.resource_id
  WHERE h.resource_type='transfer'`;

export const transferWorkflowResource = workflowResource({
  resourceType: 'transfer',
  workflowType: 'transfer',
  taskQueue: 'approvals',
  workflowIdOf: transferWorkflowId,
  table: transfers,
  states: ['pending_approval'],
  from: `${WAITING_TRANSFERS} AND h.expires_at IS NOT NULL AND t.status='pending_approval'`,
  describe: (transfer) => ({
    amount: formatAmount(transfer),
    summary: `Transfer of ${formatAmount(transfer)} that needs ${counted(transfer.approvalsRequired ?? 0, 'approval')}`,
    input: {
      resourceId: transfer.id,
      tenantId: transfer.tenantId,
    } satisfies ResourceInput<ApprovalWorkflowInput>,
  }),
});

/**
 * The hold is released or spent once, the month's allowance is restored if no money left, and one
 * event reports the end. (docs/contract.md, Approval)
 */
export const transferApproval: ApprovalFeature<Transfer> = {
  resourceType: 'transfer',
  table: transfers,
  expiring: { from: WAITING_TRANSFERS, expiresAt: 'h.expires_at' },
  operations: { approve: 'approveTransfer', cancel: 'cancelTransfer' },
  // The money of a transfer never leaves before the transfer ends.
  endRefusal: () => null,
  accountsOf: ({ sourceAccountId, destinationAccountId, feeAccountId }) => [
    sourceAccountId,
    destinationAccountId,
    ...(feeAccountId === null ? [] : [feeAccountId]),
  ],
  destinationOf: ({ destinationAccountId }) => destinationAccountId,
  granted: completed,
  ended: (transfer, action, reason) =>
    rejected(transfer, action === 'reject' ? 'rejected' : 'canceled', reason),
  expired: (transfer) => ending({ ...transfer, status: 'expired' }),
};

export type TransferApprovals = Approvals<Transfer>;

const END_EVENTS = { rejected: 'transfer.rejected', expired: 'transfer.expired' } as const;

function ending(ended: Transfer & { readonly status: keyof typeof END_EVENTS }): Ending<Transfer> {
  const { id, sourceAccountId, asset, raw, feeRaw, limitMonth } = ended;
  return {
    ended,
    writes: {
      holds: [{ change: 'release', resourceId: id, raw: raw + feeRaw }],
      months: [{ accountId: sourceAccountId, asset, month: limitMonth, raw: -raw }],
      events: [endEvent(END_EVENTS[ended.status], ended)],
    },
  };
}

function rejected(
  transfer: Transfer,
  rejectionCode: string,
  rejectionReason: string | null,
): Ending<Transfer> {
  return ending({ ...transfer, status: 'rejected', rejectionCode, rejectionReason });
}

/** Checks the destination's verification, status and reachability again, then moves the money. */
function completed(approved: Transfer, state: LockedState): Ending<Transfer> {
  const refusal = obstacle(approved, state);
  if (refusal !== null) return rejected(approved, refusal.code, refusal.message);
  const ended: Transfer = { ...approved, status: 'completed' };
  const raw = ended.raw + ended.feeRaw;
  const holds = [{ change: 'release', resourceId: ended.id, raw }] as const;
  return { ended, writes: { ...completion(ended), holds } };
}

function obstacle(transfer: Transfer, state: LockedState): Refusal | null {
  const { tenantId, sourceAccountId, destinationAccountId, feeRaw, feeAccountId } = transfer;
  const source = state.account(sourceAccountId);
  const tenant = state.row(tenants, { id: tenantId });
  if (source === undefined || tenant === undefined)
    throw new Error('the account of a transfer does not exist');
  const refusal = capabilityRefusal(source.account);
  if (refusal !== null) return refusal;
  const destination = findRecipient(state, tenant, destinationAccountId);
  if (destination === undefined) return NOT_FOUND;
  return creditRefusal(state, destination, { raw: feeRaw, accountId: feeAccountId }, transfer);
}
