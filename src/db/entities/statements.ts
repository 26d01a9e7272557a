import * as column from '../columns.js';
import { defineTable, type RowOf } from '../table.js';

export const STATEMENT_STATUSES = ['preparing', 'ready', 'expired'] as const;

/** The movements of an account in one asset in a period. */
export const statements = defineTable(
  'statements',
  {
    id: column.uuid,
    tenantId: column.uuid,
    accountId: column.uuid,
    asset: column.asset,
    /** Inclusive. */
    fromAt: column.time,
    toAt: column.time,
    /** Balance before the first movement of the period, and after the last. */
    openingRaw: column.bigint,
    closingRaw: column.bigint,
    /** The account's entries of the period in all assets: at least as many as the movements. */
    entryCount: column.integer,
    status: column.oneOf(STATEMENT_STATUSES),
    createdBy: column.uuid,
    createdAt: column.time,
    /** Number of the latest run that generates files, the only one that may write. */
    generationAttempt: column.integer,
    leaseUntil: column.nullable(column.time),
    /** Null, like the columns below, until the files exist. Removal sets their sizes to null again. */
    generatedAt: column.nullable(column.time),
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

/** At most 64 KiB of a generated file, valid once the owner's row states the file's size. */
export const generatedFilePieces = defineTable(
  'generated_file_pieces',
  {
    ownerId: column.uuid,
    format: column.oneOf(['csv', 'xlsx']),
    number: column.integer,
    content: column.bytes,
  },
  { key: ['ownerId', 'format', 'number'] },
);
