import type { EventType } from '../../db/entities/events.js';
import { transfers, type TransferStatus } from '../../db/entities/operations.js';
import { approvalOf, feeOf, moved, operationSource } from './types.js';

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
  monthUse: `status IN ('pending_approval','completed')`,
  expect: (transfer) => {
    const { status, sourceAccountId, destinationAccountId, asset, feeAccountId } = transfer;
    const isPending = status === 'pending_approval';
    const amount = moved([sourceAccountId, 'transfer_out'], [destinationAccountId, 'transfer_in'], transfer);
    return {
      state: status,
      accounts: [sourceAccountId, destinationAccountId, ...(feeAccountId === null ? [] : [feeAccountId])],
      postings: status === 'completed' ? [[...amount, ...feeOf(transfer)]] : [],
      events: EVENTS[status],
      hold: isPending
        ? {
            accountId: sourceAccountId,
            asset,
            remaining: transfer.raw + transfer.feeRaw,
            expiresAt: transfer.approvalExpiresAt,
          }
        : null,
      approval: approvalOf(transfer, status === 'completed'),
    };
  },
});
