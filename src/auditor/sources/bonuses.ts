import { amountJson } from '../../core/amount.js';
import { type BatchStatus, bonusBatches, bonuses } from '../../db/entities/bonuses.js';
import type { EventType } from '../../db/entities/events.js';
import { feeAccountOf, feeOf, entryPair, operationSource } from './types.js';

/** A bonus is paid when it is created. */
export const bonusSource = operationSource({
  resourceType: 'bonus',
  table: bonuses,
  monthUse: 'TRUE',
  expect: (row) => {
    const { sourceAccountId: source, recipientAccountId: recipient } = row;
    const paid = entryPair([source, 'bonus_out'], [recipient, 'bonus_in'], row);
    return {
      state: 'completed',
      description: row.description,
      accounts: [source, recipient, ...feeAccountOf(row)],
      owned: [source, ...feeAccountOf(row)],
      fee: { raw: row.feeRaw, accountId: row.feeAccountId },
      postings: [[...paid, ...feeOf(row)]],
      isKeyed: true,
    };
  },
});

const BATCH_EVENTS: Readonly<Record<BatchStatus, readonly EventType[]>> = {
  validating: [],
  ready: ['bonus_batch.ready'],
  rejected: ['bonus_batch.rejected'],
  executing: ['bonus_batch.ready'],
  completed: ['bonus_batch.ready', 'bonus_batch.completed'],
  partially_failed: ['bonus_batch.ready', 'bonus_batch.partially_failed'],
};

/** An executing batch holds the money of its pending rows, which checks/batches.ts compares. */
export const batchSource = operationSource({
  resourceType: 'bonus_batch',
  table: bonusBatches,
  monthUse: null,
  expect: (row) => {
    const { status, sourceAccountId: source, asset, totalRaw, feesRaw, description } = row;
    const isAccepted =
      status !== 'validating' && (status !== 'rejected' || row.rejectionCode !== null);
    const isExecuting = status === 'executing' && row.canceledAt === null;
    const debit = totalRaw + feesRaw;
    const total = asset === null ? null : amountJson({ raw: totalRaw, asset });
    const remaining = isExecuting ? debit - row.settledRaw : 0n;
    return {
      state: status,
      description,
      accounts: [source, ...feeAccountOf(row)],
      // A refused file has no fee account.
      ...(isAccepted ? { fee: { raw: feesRaw, accountId: row.feeAccountId } } : {}),
      // A withdrawn or lapsed batch was ready before.
      events: [...(row.rejectionCode === null ? [] : BATCH_EVENTS.ready), ...BATCH_EVENTS[status]],
      hold:
        row.isHeld && asset !== null
          ? { accountId: source, asset, raw: debit, remaining, expiresAt: null }
          : null,
      shown: { source_account: source, description, total },
    };
  },
});
