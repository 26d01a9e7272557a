import * as column from '../columns.js';
import { defineTable, type RowOf } from '../table.js';

/** Bonuses, and the batches that pay many of them from one file. */

/** A paid bonus: bonuses have no other state. Never changed. */
export const bonuses = defineTable(
  'bonuses',
  {
    id: column.uuid,
    tenantId: column.uuid,
    sourceAccountId: column.uuid,
    recipientAccountId: column.uuid,
    asset: column.asset,
    raw: column.bigint,
    feeRaw: column.bigint,
    /** Null without a fee. */
    feeAccountId: column.nullable(column.uuid),
    description: column.nullable(column.varchar(140)),
    /** The tenant's own name for it. */
    reference: column.nullable(column.varchar(64)),
    /** The member who requested it; for a batch's row, the one who executed the batch. */
    createdBy: column.uuid,
    /** The batch and row that it pays; null for a single bonus. No row has two. */
    batchId: column.nullable(column.uuid),
    batchRow: column.nullable(column.integer),
    /** `2026-11`: the month whose allowance it used, in the tenant's time zone. */
    limitMonth: column.asciiChar(7),
    createdAt: column.time,
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

/**
 * The single bonuses that have a reference, found by it: those of batches are found by the batch's
 * row.
 */
export const bonusReferences = defineTable(
  'bonus_references',
  {
    /** The id of the bonus. */
    id: column.uuid,
    tenantId: column.uuid,
    recipientAccountId: column.uuid,
    reference: column.varchar(64),
    createdAt: column.time,
  },
  { key: ['reference', 'recipientAccountId', 'id'] },
);

export const BATCH_STATUSES = [
  'validating',
  'ready',
  'rejected',
  'executing',
  'completed',
  'partially_failed',
] as const;
export type BatchStatus = (typeof BATCH_STATUSES)[number];

/** Why a batch is rejected although its file was accepted. */
export const BATCH_REJECTIONS = ['withdrawn', 'lapsed'] as const;
export type BatchRejection = (typeof BATCH_REJECTIONS)[number];

/**
 * Guarded by its source account's row. All sums are over its rows.
 */
export const bonusBatches = defineTable(
  'bonus_batches',
  {
    id: column.uuid,
    tenantId: column.uuid,
    sourceAccountId: column.uuid,
    description: column.nullable(column.varchar(140)),
    status: column.oneOf(BATCH_STATUSES),
    fileSha256: column.binary(32),
    fileBytes: column.integer,
    /** The member who uploaded it. */
    createdBy: column.uuid,
    /** The token used. */
    tokenKeyId: column.ascii(32),
    createdAt: column.time,
    /** Known from the first valid row on. */
    asset: column.nullable(column.asset),
    /** Data rows of the file; while validating, those read so far. */
    rowCount: column.integer,
    rowsRejected: column.integer,
    /** The sum over the valid rows. */
    totalRaw: column.bigint,
    feesRaw: column.bigint,
    /** The account for its rows' fees; null if no row has one. */
    feeAccountId: column.nullable(column.uuid),
    /** Rows that repeat an earlier row's recipient, and the numbers of the first of these. */
    duplicateCount: column.integer,
    duplicateRows: column.integers(1000),
    /**
     * Data rows that are hidden in the spreadsheet, and hidden sheets before the sheet that was
     * read.
     */
    hiddenRows: column.integer,
    skippedSheets: column.integer,
    /** The newest other batch of the last 90 days with the same bytes. */
    sameFileBatchId: column.nullable(column.uuid),
    /** The run of the validation that may write: each run shuts out earlier ones. */
    validationRun: column.integer,
    validatedAt: column.nullable(column.time),
    executedBy: column.nullable(column.uuid),
    executedAt: column.nullable(column.time),
    /** Whether the whole debit was held at execution. */
    isHeld: column.boolean,
    rowsPaid: column.integer,
    rowsFailed: column.integer,
    /**
     * Amounts and fees of the rows that are paid or failed: the part of the hold no longer needed.
     */
    settledRaw: column.bigint,
    pausedAt: column.nullable(column.time),
    pausedBy: column.nullable(column.varchar(120)),
    pauseReason: column.nullable(column.varchar(140)),
    /** No row is paid from then on. */
    canceledAt: column.nullable(column.time),
    finishedAt: column.nullable(column.time),
    /** Null if the file was refused: then the problems say why. */
    rejectionCode: column.nullable(column.wordOf(BATCH_REJECTIONS, 40)),
    /**
     * Since when its errors or result file is available; null before that, and after retention has
     * removed it.
     */
    filesMadeAt: column.nullable(column.time),
  },
  {
    indexes: {
      byStatus: ['status', 'createdAt'],
      sameFile: ['tenantId', 'fileSha256', 'createdAt'],
      source: ['sourceAccountId', 'createdAt', 'id'],
      status: ['tenantId', 'status', 'createdAt', 'id'],
    },
  },
);
export type BonusBatch = RowOf<typeof bonusBatches>;

export const BATCH_ROW_STATUSES = ['pending', 'paid', 'failed'] as const;
export type BatchRowStatus = (typeof BATCH_ROW_STATUSES)[number];

/**
 * A valid row of a batch. The primary key is (batch, number); the id is for its idempotency key.
 */
export const bonusBatchRows = defineTable(
  'bonus_batch_rows',
  {
    id: column.uuid,
    batchId: column.uuid,
    /** As a spreadsheet numbers it: the first data row is 2. */
    number: column.integer,
    /** As in the file. */
    recipient: column.varchar(100),
    /** Resolved at validation, and paid even if its alias or phone changes later. */
    recipientAccountId: column.uuid,
    raw: column.bigint,
    feeRaw: column.bigint,
    description: column.nullable(column.varchar(140)),
    reference: column.nullable(column.varchar(64)),
    status: column.oneOf(BATCH_ROW_STATUSES),
    bonusId: column.nullable(column.uuid),
    code: column.nullable(column.ascii(40)),
    message: column.nullable(column.varchar(300)),
    settledAt: column.nullable(column.time),
  },
  {
    key: ['batchId', 'number'],
    indexes: {
      reference: ['reference', 'recipientAccountId'],
      status: ['batchId', 'status', 'number'],
    },
  },
);
export type BonusBatchRow = RowOf<typeof bonusBatchRows>;

/** Everything wrong with a file, in order. */
export const bonusBatchProblems = defineTable(
  'bonus_batch_problems',
  {
    batchId: column.uuid,
    /** 0 for the file as a whole. */
    number: column.integer,
    /** Position among the row's problems. */
    ordinal: column.integer,
    /** The column's name; empty if it concerns none. */
    field: column.ascii(40),
    code: column.ascii(40),
    message: column.varchar(300),
    /** The cell's content, shortened. */
    value: column.varchar(100),
  },
  { key: ['batchId', 'number', 'ordinal'] },
);
export type BonusBatchProblem = RowOf<typeof bonusBatchProblems>;

/**
 * Data stored for a batch besides its own row: counts towards the tenant's quotas, and is removed
 * after a while.
 */
export const bonusBatchStorage = defineTable(
  'bonus_batch_storage',
  {
    batchId: column.uuid,
    tenantId: column.uuid,
    /** Size of the uploaded file; 0 once it is removed. */
    fileBytes: column.integer,
    /** Rows in bonus_batch_problems. */
    problemRows: column.integer,
    /** Rows in bonus_batch_rows without a payment, once the batch has ended. */
    unpaidRows: column.integer,
    /** When its rows, problems and files were removed; null while they exist. */
    rowsRemovedAt: column.nullable(column.time),
    /** The recipient budget has paid for the file's names up to this row. */
    chargedRow: column.integer,
    /** The attempt at making its files that may write: each attempt shuts out earlier ones. */
    filesRun: column.integer,
    /** Size of its finished files; null while none exist. */
    csvBytes: column.nullable(column.integer),
    xlsxBytes: column.nullable(column.integer),
  },
  {
    key: ['batchId'],
    indexes: {
      kept: ['rowsRemovedAt', 'batchId'],
      tenantStored: ['tenantId', 'fileBytes', 'problemRows', 'unpaidRows'],
      unmade: ['rowsRemovedAt', 'csvBytes', 'batchId'],
    },
  },
);
type BonusBatchStorage = RowOf<typeof bonusBatchStorage>;

/** The initial row, for a batch of which only the upload is stored. */
export function storageOf({
  id,
  tenantId,
  fileBytes,
}: Pick<BonusBatch, 'id' | 'tenantId' | 'fileBytes'>): BonusBatchStorage {
  const counts = { problemRows: 0, unpaidRows: 0, filesRun: 0, chargedRow: 0 };
  return {
    batchId: id,
    tenantId,
    fileBytes,
    ...counts,
    rowsRemovedAt: null,
    csvBytes: null,
    xlsxBytes: null,
  };
}

/**
 * The bytes of an uploaded file, at most 1 MiB per row: a single large parameter would exceed
 * max_allowed_packet.
 */
export const uploadChunks = defineTable(
  'upload_chunks',
  {
    batchId: column.uuid,
    /** From 0; each but the last is full. */
    number: column.integer,
    content: column.bytes,
  },
  { key: ['batchId', 'number'] },
);
