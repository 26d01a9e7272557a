import { adjustments, payIns } from '../../db/entities/operations.js';
import { operationSource } from './types.js';

/** Pay-ins: money from outside, which the tenant's pay-in account owes. */
export const payInSource = operationSource({
  resourceType: 'payin',
  table: payIns,
  monthUse: null,
  expect: ({ accountId, asset, raw }) => ({
    state: 'recorded',
    accounts: [accountId],
    postings: [
      [
        { account: 'pay_in', asset, raw: -raw, kind: 'system_out', counterparty: accountId },
        { account: accountId, asset, raw, kind: 'payin_in', counterparty: 'pay_in' },
      ],
    ],
    events: [],
    hold: null,
    approval: null,
  }),
});

/** Adjustments: nothing moves until a second person has posted them. */
export const adjustmentSource = operationSource({
  resourceType: 'adjustment',
  table: adjustments,
  monthUse: null,
  expect: ({ status, direction, accountId, asset, raw }) => {
    const isIn = direction === 'in';
    const gained = isIn ? raw : -raw;
    return {
      state: status,
      accounts: [accountId],
      postings:
        status !== 'posted'
          ? []
          : [
              [
                {
                  account: accountId,
                  asset,
                  raw: gained,
                  kind: isIn ? 'adjustment_in' : 'adjustment_out',
                  counterparty: 'adjustment',
                },
                {
                  account: 'adjustment',
                  asset,
                  raw: -gained,
                  kind: isIn ? 'system_out' : 'system_in',
                  counterparty: accountId,
                },
              ],
            ],
      events: [],
      hold: null,
      approval: null,
    };
  },
});
