import { missing, type Refusal } from '../core/errors.js';
import { type Transfer, transfers } from '../db/entities/operations.js';
import { tenants } from '../db/entities/parties.js';
import { creditRefusal, findRecipient } from '../operations/payments.js';
import { capabilityRefusal } from '../accounts/rules.js';
import type { ApprovalFeature, Ending } from '../approvals/decide.js';
import type { Approvals } from '../approvals/service.js';
import type { LockedState } from '../ledger/writer/types.js';
import { completionWrites, endEvent } from './decide.js';
import { endedRefundRows, originalKeys } from './originals.js';
import { captureExpiry, movedAmount } from './rules.js';
import { HELD } from '../approvals/rules.js';
import { formatAmount } from '../core/amount.js';
import {
  type ApprovalWorkflowInput,
  type ResourceInput,
  transferWorkflowId,
} from '../temporal/contracts.js';
import { workflowResource } from '../temporal/workflow-resources.js';
import { counted } from '../core/collections.js';

/** FROM and WHERE for transfers with a hold, an index on which ends in their expiry. */
const WAITING_TRANSFERS = `holds h FORCE INDEX (expiring) STRAIGHT_JOIN transfers t ON t.id=h.resource_id
  WHERE h.resource_type='transfer'`;

export const transferWorkflowResource = workflowResource({
  resourceType: 'transfer',
  workflowType: 'transfer',
  taskQueue: 'approvals',
  workflowIdOf: transferWorkflowId,
  table: transfers,
  states: ['pending_approval', 'held'],
  from: `${WAITING_TRANSFERS} AND h.expires_at IS NOT NULL AND t.status IN ('pending_approval','held')`,
  describe: (transfer) => ({
    amount: formatAmount(transfer),
    summary: `Transfer of ${formatAmount(transfer)} that ${
      transfer.approvalsRequired === null
        ? 'is held until it is captured'
        : `needs ${counted(transfer.approvalsRequired, 'approval')}`
    }`,
    input: {
      resourceId: transfer.id,
      tenantId: transfer.tenantId,
    } satisfies ResourceInput<ApprovalWorkflowInput>,
  }),
});

/**
 * Ends pending transfers: releases the hold, then either pays or restores the month's allowance, and
 * emits one event. (docs/contract.md, Approval)
 */
export const transferApproval: ApprovalFeature<Transfer> = {
  resourceType: 'transfer',
  table: transfers,
  expiring: { from: WAITING_TRANSFERS, expiresAt: 'h.expires_at' },
  operations: { approve: 'approveTransfer', cancel: 'cancelTransfer', alsoCanceledIn: [HELD] },
  captureExpiresAt: ({ captureExpiresAt }) => captureExpiresAt,
  // Unlike a payout's, the money of a transfer that waits cannot have left.
  endRefusal: () => null,
  accountsOf: ({ sourceAccountId, destinationAccountId, feeAccountId }) => [
    sourceAccountId,
    destinationAccountId,
    ...(feeAccountId === null ? [] : [feeAccountId]),
  ],
  destinationOf: ({ destinationAccountId }) => destinationAccountId,
  furtherKeys: originalKeys,
  grant: complete,
  end: (transfer, action, reason, state) =>
    reject(transfer, action === 'reject' ? 'rejected' : 'canceled', reason, state),
  expire: (transfer, state) => endUnpaid({ ...transfer, status: 'expired' }, state),
};

export type TransferApprovals = Approvals<Transfer>;

const END_EVENTS = { rejected: 'transfer.rejected', expired: 'transfer.expired' } as const;

function endUnpaid(
  ended: Transfer & { readonly status: keyof typeof END_EVENTS },
  state: LockedState,
): Ending<Transfer> {
  const { id, sourceAccountId: accountId, asset, raw, feeRaw, limitMonth: month } = ended;
  const isRefund = ended.refundOfId !== null;
  return {
    ended,
    writes: {
      holds: [{ change: 'release', resourceId: id, raw: raw + feeRaw }],
      months: isRefund ? [] : [{ accountId, asset, month, raw: -raw }],
      rows: endedRefundRows(ended, state),
      events: [endEvent(END_EVENTS[ended.status], ended)],
    },
  };
}

function reject(
  transfer: Transfer,
  rejectionCode: string,
  rejectionReason: string | null,
  state: LockedState,
): Ending<Transfer> {
  return endUnpaid({ ...transfer, status: 'rejected', rejectionCode, rejectionReason }, state);
}

/** Checks the source and the destination again, then moves the money, or waits for its capture. */
function complete(approved: Transfer, state: LockedState): Ending<Transfer> {
  const refusal = lastCheckRefusal(approved, state);
  if (refusal !== null) return reject(approved, refusal.code, refusal.message, state);
  const captureExpiresAt = captureExpiry(state.at, approved.captureWithinS);
  if (captureExpiresAt === null) return payHeld({ ...approved, status: 'completed' }, state);
  const holds = [
    { change: 'extend', resourceId: approved.id, expiresAt: captureExpiresAt },
  ] as const;
  return { ended: { ...approved, status: HELD, captureExpiresAt }, writes: { holds } };
}

/** Releases the whole hold, and moves the amount, or what was captured of it. */
export function payHeld(ended: Transfer, state: LockedState): Ending<Transfer> {
  const raw = ended.raw + ended.feeRaw;
  const holds = [{ change: 'release', resourceId: ended.id, raw }] as const;
  const rows = endedRefundRows(ended, state);
  return { ended, writes: { ...completionWrites(ended), holds, rows } };
}

/** Returns why the source cannot send or the destination not receive `transfer` now, or null. */
export function lastCheckRefusal(transfer: Transfer, state: LockedState): Refusal | null {
  const { tenantId, sourceAccountId, destinationAccountId, asset } = transfer;
  const { raw, feeRaw, feeAccountId } = movedAmount(transfer);
  const source = state.account(sourceAccountId);
  const tenant = state.row(tenants, { id: tenantId });
  if (source === undefined || tenant === undefined)
    throw new Error('the source or the tenant of a transfer does not exist');
  const refusal = capabilityRefusal(source.account);
  if (refusal !== null) return refusal;
  const destination = findRecipient(state, tenant, destinationAccountId);
  if (destination === undefined) return missing('destination');
  return creditRefusal(
    state,
    destination,
    { raw: feeRaw, accountId: feeAccountId },
    { raw, asset },
  );
}
