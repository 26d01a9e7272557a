import { adjustments, payIns } from '../../db/entities/operations.js';
import { moved, operationSource } from './types.js';

/** Pay-ins: money from outside, which the tenant's pay-in account owes. */
export const payInSource = operationSource({
  resourceType: 'payin',
  table: payIns,
  monthUse: null,
  expect: (payIn) => ({
    state: 'recorded',
    description: payIn.description,
    accounts: [payIn.accountId],
    postings: [moved(['pay_in', 'system_out'], [payIn.accountId, 'payin_in'], payIn)],
    isKeyed: true,
  }),
});

/** Adjustments: nothing moves until a second person has posted them. */
export const adjustmentSource = operationSource({
  resourceType: 'adjustment',
  table: adjustments,
  monthUse: null,
  expect: (adjustment) => {
    const { status, direction, accountId } = adjustment;
    const posted =
      direction === 'in'
        ? moved(['adjustment', 'system_out'], [accountId, 'adjustment_in'], adjustment)
        : moved([accountId, 'adjustment_out'], ['adjustment', 'system_in'], adjustment);
    return {
      state: status,
      description: adjustment.reason,
      accounts: [accountId],
      postings: status === 'posted' ? [posted] : [],
      people:
        status === 'posted'
          ? { proposed: adjustment.proposedById, decided: adjustment.decidedById }
          : null,
    };
  },
});
