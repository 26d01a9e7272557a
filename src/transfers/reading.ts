import type { OperationList } from '../accounts/operation-list.js';
import { type Transfer, TRANSFER_STATUSES, transfers } from '../db/entities/operations.js';

/** Read with any role in the source, or in a destination of the tenant. */
export const transferList: OperationList<Transfer> = {
  table: transfers,
  statuses: TRANSFER_STATUSES,
  resourceType: 'transfer',
  seenFrom: ['source_account_id', 'destination_account_id'],
};
