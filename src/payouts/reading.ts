import type { OperationList } from '../accounts/operation-list.js';
import { type Payout, payouts } from '../db/entities/payouts.js';

/** How members read payouts: any role in the source shows them. (docs/contract.md, Roles and scopes) */
export const payoutList: OperationList<Payout> = {
  table: payouts,
  resourceType: 'payout',
  seenFrom: ['source_account_id'],
};
