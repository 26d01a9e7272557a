import { amountJson } from '../../core/amount.js';
import { bonuses, type BatchStatus, bonusBatches } from '../../db/entities/bonuses.js';
import type { EventType } from '../../db/entities/events.js';
import { feeAccountOf, feeOf, moved, operationSource } from './types.js';

/** Bonuses: paid as soon as they exist, so each has left the account and counts in its month. */
export const bonusSource = operationSource({
  resourceType: 'bonus',
  table: bonuses,
  monthUse: 'TRUE',
  expect: (bonus) => ({
    state: 'completed',
    description: bonus.description,
    accounts: [bonus.sourceAccountId, bonus.recipientAccountId, ...feeAccountOf(bonus)],
    owned: [bonus.sourceAccountId, ...feeAccountOf(bonus)],
    fee: { raw: bonus.feeRaw, accountId: bonus.feeAccountId },
    postings: [
      [
        ...moved(
          [bonus.sourceAccountId, 'bonus_out'],
          [bonus.recipientAccountId, 'bonus_in'],
          bonus,
        ),
        ...feeOf(bonus),
      ],
    ],
    isKeyed: true,
  }),
});

const BATCH_EVENTS: Readonly<Record<BatchStatus, readonly EventType[]>> = {
  validating: [],
  ready: ['bonus_batch.ready'],
  rejected: ['bonus_batch.rejected'],
  executing: ['bonus_batch.ready'],
  completed: ['bonus_batch.ready', 'bonus_batch.completed'],
  partially_failed: ['bonus_batch.ready', 'bonus_batch.partially_failed'],
};

/**
 * Batches: the hold of an executing batch, if it has one, is what is not yet paid or refused. The batches' own check
 * (../checks/batches.ts) compares its sums with its rows, and these with the bonuses.
 */
export const batchSource = operationSource({
  resourceType: 'bonus_batch',
  table: bonusBatches,
  monthUse: null,
  expect: (batch) => {
    const {
      status,
      sourceAccountId,
      feeAccountId,
      asset,
      totalRaw,
      feesRaw,
      settledRaw,
      description,
    } = batch;
    const isAccepted =
      status !== 'validating' && (status !== 'rejected' || batch.rejectionCode !== null);
    const isHeld = status === 'executing' && batch.canceledAt === null;
    const debit = totalRaw + feesRaw;
    return {
      state: status,
      description,
      accounts: [sourceAccountId, ...feeAccountOf(batch)],
      // Those of a file that was refused are nobody's.
      ...(isAccepted ? { fee: { raw: feesRaw, accountId: feeAccountId } } : {}),
      // A withdrawn or lapsed batch was ready before.
      events: [
        ...(batch.rejectionCode === null ? [] : BATCH_EVENTS.ready),
        ...BATCH_EVENTS[status],
      ],
      hold:
        batch.isHeld && asset !== null
          ? {
              accountId: sourceAccountId,
              asset,
              raw: debit,
              remaining: isHeld ? debit - settledRaw : 0n,
              expiresAt: null,
            }
          : null,
      shown: {
        source_account: sourceAccountId,
        description,
        total: asset === null ? null : amountJson({ raw: totalRaw, asset }),
      },
    };
  },
});
