import * as column from '../columns.js';
import { defineTable, type RowOf } from '../table.js';

/** Statements of accounts: the movements of one asset in a period. */

export const STATEMENT_STATUSES = ['preparing', 'ready', 'expired'] as const;

export const statements = defineTable(
  'statements',
  {
    id: column.uuid,
    tenantId: column.uuid,
    accountId: column.uuid,
    asset: column.asset,
    /** First and last instant, inclusive. */
    fromAt: column.time,
    toAt: column.time,
    /**
     * The account's total in the asset before the first movement of the period, and after the last.
     */
    openingRaw: column.bigint,
    closingRaw: column.bigint,
    /**
     * The account's entries in the period, in all assets: the files have at most two lines more.
     */
    entryCount: column.integer,
    status: column.oneOf(STATEMENT_STATUSES),
    createdBy: column.uuid,
    createdAt: column.time,
    /** The attempt at making its files that may write: each attempt shuts out earlier ones. */
    filesRun: column.integer,
    /** Until then the last attempt is assumed to be running. */
    leaseUntil: column.nullable(column.time),
    /**
     * Null, like the columns below, until its files exist; the byte counts also once they are
     * removed.
     */
    madeAt: column.nullable(column.time),
    movementCount: column.nullable(column.integer),
    csvBytes: column.nullable(column.integer),
    xlsxBytes: column.nullable(column.integer),
  },
  {
    indexes: {
      account: ['accountId', 'createdAt', 'id'],
      leased: ['status', 'leaseUntil'],
      status: ['status', 'id'],
      tenant: ['tenantId', 'createdAt', 'id'],
      tenantStatus: ['tenantId', 'status', 'entryCount'],
    },
  },
);
export type Statement = RowOf<typeof statements>;
