import type { OperationList } from '../accounts/operation-list.js';
import { type Bonus, bonuses } from '../db/entities/bonuses.js';

/** Read with any role in the source, or in a recipient account of the tenant. */
export const bonusList: OperationList<Bonus> = {
  table: bonuses,
  statuses: [],
  resourceType: 'bonus',
  seenFrom: ['source_account_id', 'recipient_account_id'],
};
