import type { OperationList } from '../accounts/operation-list.js';
import { type Bonus, bonuses } from '../db/entities/bonuses.js';

/**
 * How members read bonuses: any role in the source, or a recipient of the same tenant, shows them.
 * (docs/contract.md, Roles and scopes)
 */
export const bonusList: OperationList<Bonus> = {
  table: bonuses,
  statuses: [],
  resourceType: 'bonus',
  seenFrom: ['source_account_id', 'recipient_account_id'],
};
