import type { EventType } from '../../db/entities/events.js';
import { type Transfer, transfers, type TransferStatus } from '../../db/entities/operations.js';
import { type ExpectedApproval, type ExpectedEntry, operationSource } from './types.js';

const EVENTS: Readonly<Record<TransferStatus, readonly EventType[]>> = {
  pending_approval: [],
  completed: ['transfer.completed'],
  rejected: ['transfer.rejected'],
  expired: ['transfer.expired'],
};

/** Transfers: what is pending is held with its fee and counts in its month; what is completed has left the account. */
export const transferSource = operationSource({
  resourceType: 'transfer',
  table: transfers,
  monthUse: {
    accountColumn: 'source_account_id',
    monthColumn: 'limit_month',
    rawColumn: 'raw',
    condition: `status IN ('pending_approval','completed')`,
  },
  expect: (transfer) => {
    const { status, sourceAccountId, destinationAccountId, asset, feeAccountId } = transfer;
    const isPending = status === 'pending_approval';
    return {
      state: status,
      accounts: [sourceAccountId, destinationAccountId, ...(feeAccountId === null ? [] : [feeAccountId])],
      postings: status === 'completed' ? [entriesOf(transfer)] : [],
      events: EVENTS[status],
      hold: isPending
        ? {
            accountId: sourceAccountId,
            asset,
            remaining: transfer.raw + transfer.feeRaw,
            expiresAt: transfer.approvalExpiresAt,
          }
        : null,
      approval: approvalOf(transfer),
    };
  },
});

function approvalOf({ status, createdBy, approvalsRequired, approvalsReceived }: Transfer): ExpectedApproval | null {
  if (approvalsRequired === null) return null;
  return {
    required: approvalsRequired,
    received: approvalsReceived ?? 0,
    isApproved: status === 'completed',
    isWaiting: status === 'pending_approval',
    createdBy,
  };
}

function entriesOf(transfer: Transfer): ExpectedEntry[] {
  const { sourceAccountId: source, destinationAccountId: destination, feeAccountId, asset, raw, feeRaw } = transfer;
  const amount: ExpectedEntry[] = [
    { account: source, asset, raw: -raw, kind: 'transfer_out', counterparty: destination },
    { account: destination, asset, raw, kind: 'transfer_in', counterparty: source },
  ];
  if (feeAccountId === null) return amount;
  return [
    ...amount,
    { account: source, asset, raw: -feeRaw, kind: 'fee_out', counterparty: feeAccountId },
    { account: feeAccountId, asset, raw: feeRaw, kind: 'adjustment_in', counterparty: source },
  ];
}
