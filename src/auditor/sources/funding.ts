import { adjustments, payIns } from '../../db/entities/operations.js';
import { entryPair, operationSource } from './types.js';

/** Money from outside, which the tenant's pay-in account owes. */
export const payInSource = operationSource({
  resourceType: 'payin',
  table: payIns,
  monthUse: null,
  expect: (row) => ({
    state: 'recorded',
    description: row.description,
    accounts: [row.accountId],
    postings: [entryPair(['pay_in', 'system_out'], [row.accountId, 'payin_in'], row)],
    isKeyed: true,
  }),
});

export const adjustmentSource = operationSource({
  resourceType: 'adjustment',
  table: adjustments,
  monthUse: null,
  expect: (row) => {
    const { status, accountId } = row;
    const isPosted = status === 'posted';
    const legs =
      row.direction === 'in'
        ? entryPair(['adjustment', 'system_out'], [accountId, 'adjustment_in'], row)
        : entryPair([accountId, 'adjustment_out'], ['adjustment', 'system_in'], row);
    return {
      state: status,
      description: row.reason,
      accounts: [accountId],
      postings: isPosted ? [legs] : [],
      people: isPosted ? { proposed: row.proposedById, decided: row.decidedById } : null,
    };
  },
});
