import * as column from '../columns.js';
import { defineTable, type RowOf } from '../table.js';

/** What an account's owner takes home of its movements: an asset's, of a period. */

export const STATEMENT_STATUSES = ['preparing', 'ready', 'expired'] as const;

export const statements = defineTable('statements', {
  id: column.uuid,
  tenantId: column.uuid,
  accountId: column.uuid,
  asset: column.asset,
  /** Both inclusive. */
  fromAt: column.time,
  toAt: column.time,
  /** The account's total of the asset before the first movement of the period, and after the last. */
  openingRaw: column.bigint,
  closingRaw: column.bigint,
  /** The account's entries in the period, of every asset: the files have no more lines than these and two. */
  entryCount: column.integer,
  status: column.oneOf(STATEMENT_STATUSES),
  createdBy: column.uuid,
  createdAt: column.time,
  /** Which making of its files may write: a later one shuts the earlier ones out. */
  filesRun: column.integer,
  /** Until then the last making is believed to go on. */
  leaseUntil: column.nullable(column.time),
  /** Null, as all that follow, before its files are there; the bytes also once they are removed. */
  madeAt: column.nullable(column.time),
  movementCount: column.nullable(column.integer),
  csvBytes: column.nullable(column.integer),
  xlsxBytes: column.nullable(column.integer),
});
export type Statement = RowOf<typeof statements>;

export const statementFiles = defineTable(
  'statement_files',
  {
    statementId: column.uuid,
    format: column.oneOf(['csv', 'xlsx']),
    /** From 0; every one but the last is full. */
    number: column.integer,
    content: column.bytes,
  },
  ['statementId', 'format', 'number'],
);
