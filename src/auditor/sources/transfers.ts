import type { EventType } from '../../db/entities/events.js';
import { transfers, type TransferStatus } from '../../db/entities/operations.js';
import { approvalOf, feeAccountOf, feeOf, entryPair, operationSource, shownOf } from './types.js';

const EVENTS: Readonly<Record<TransferStatus, readonly EventType[]>> = {
  pending_approval: [],
  completed: ['transfer.completed'],
  rejected: ['transfer.rejected'],
  expired: ['transfer.expired'],
};

export const transferSource = operationSource({
  resourceType: 'transfer',
  table: transfers,
  monthUse: `status IN ('pending_approval','completed')`,
  expect: (row) => {
    const { status, sourceAccountId: source, destinationAccountId: destination, asset } = row;
    const isPending = status === 'pending_approval';
    const approval = approvalOf(row, status === 'completed');
    const debit = row.raw + row.feeRaw;
    const remaining = isPending ? debit : 0n;
    const expiresAt = isPending ? row.approvalExpiresAt : null;
    const paid = [
      ...entryPair([source, 'transfer_out'], [destination, 'transfer_in'], row),
      ...feeOf(row),
    ];
    return {
      state: status,
      description: row.description,
      accounts: [source, destination, ...feeAccountOf(row)],
      owned: [source, ...feeAccountOf(row)],
      fee: { raw: row.feeRaw, accountId: row.feeAccountId },
      postings: status === 'completed' ? [paid] : [],
      events: EVENTS[status],
      hold:
        approval === null ? null : { accountId: source, asset, raw: debit, remaining, expiresAt },
      approval,
      isKeyed: approval === null,
      shown: shownOf(row),
    };
  },
});
