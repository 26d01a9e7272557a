import * as column from '../columns.js';
import { defineTable, type RowOf } from '../table.js';
import { refundedColumns, spendingColumns } from './operations.js';

/** Payments to people, made at once, singly or by a batch. */

/** Paid bonuses. Only their metadata and the sums of their refunds change. */
export const bonuses = defineTable(
  'bonuses',
  {
    ...spendingColumns,
    ...refundedColumns,
    recipientAccountId: column.uuid,
    /** The tenant's own reference for the bonus. */
    reference: column.nullable(column.varchar(64)),
    /** The batch and row that the bonus pays; null for a single bonus. */
    batchId: column.nullable(column.uuid),
    batchRow: column.nullable(column.integer),
  },
  {
    unique: { batch: ['batchId', 'batchRow'] },
    indexes: {
      source: ['sourceAccountId', 'createdAt', 'id'],
      tenant: ['tenantId', 'createdAt', 'id'],
    },
  },
);
export type Bonus = RowOf<typeof bonuses>;

/** Single bonuses by their references; a batch's bonuses are found by its rows. */
export const bonusReferences = defineTable(
  'bonus_references',
  {
    id: column.uuid,
    tenantId: column.uuid,
    recipientAccountId: column.uuid,
    reference: column.varchar(64),
    createdAt: column.time,
  },
  { key: ['reference', 'recipientAccountId', 'id'] },
);
