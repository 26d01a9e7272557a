import type { EventType } from '../../db/entities/events.js';
import { transfers, type TransferStatus } from '../../db/entities/operations.js';
import { approvalOf, feeAccountOf, feeOf, moved, operationSource, shownOf } from './types.js';

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
    const {
      status,
      sourceAccountId,
      destinationAccountId,
      asset,
      raw,
      feeRaw,
      feeAccountId,
      description,
    } = transfer;
    const isPending = status === 'pending_approval';
    const approval = approvalOf(transfer, status === 'completed');
    const debit = raw + feeRaw;
    const amount = moved(
      [sourceAccountId, 'transfer_out'],
      [destinationAccountId, 'transfer_in'],
      transfer,
    );
    return {
      state: status,
      description,
      accounts: [sourceAccountId, destinationAccountId, ...feeAccountOf(transfer)],
      owned: [sourceAccountId, ...feeAccountOf(transfer)],
      fee: { raw: feeRaw, accountId: feeAccountId },
      postings: status === 'completed' ? [[...amount, ...feeOf(transfer)]] : [],
      events: EVENTS[status],
      hold:
        approval === null
          ? null
          : {
              accountId: sourceAccountId,
              asset,
              raw: debit,
              remaining: isPending ? debit : 0n,
              expiresAt: isPending ? transfer.approvalExpiresAt : null,
            },
      approval,
      isKeyed: approval === null,
      shown: shownOf(transfer),
    };
  },
});
