import type { OperationList } from '../accounts/operation-list.js';
import { type Payout, PAYOUT_STATUSES, payouts } from '../db/entities/payouts.js';

/** How members list payouts, with any role in the source. (docs/contract.md, Roles and scopes) */
export const payoutList: OperationList<Payout> = {
  table: payouts,
  statuses: PAYOUT_STATUSES,
  resourceType: 'payout',
  seenFrom: ['source_account_id'],
};
