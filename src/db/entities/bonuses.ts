import * as column from '../columns.js';
import { defineTable, type RowOf } from '../table.js';

/** Bonuses, and the batches that pay many of them from one file. */

/** A paid bonus: there is none in another state. Never changed. */
export const bonuses = defineTable('bonuses', {
  id: column.uuid,
  tenantId: column.uuid,
  sourceAccountId: column.uuid,
  recipientAccountId: column.uuid,
  asset: column.asset,
  raw: column.bigint,
  feeRaw: column.bigint,
  /** Null when there is no fee. */
  feeAccountId: column.nullable(column.uuid),
  description: column.nullable(column.string),
  /** The tenant's own name for it. */
  reference: column.nullable(column.string),
  /** The member who asked for it; of a batch's row, who executed the batch. */
  createdBy: column.uuid,
  /** The batch and its row that it pays; null for a single one. No row has two. */
  batchId: column.nullable(column.uuid),
  batchRow: column.nullable(column.integer),
  /** `2026-11`: the month whose allowance it used, in the tenant's time zone. */
  limitMonth: column.string,
  createdAt: column.time,
});
export type Bonus = RowOf<typeof bonuses>;

export const BATCH_STATUSES = [
  'validating',
  'ready',
  'rejected',
  'executing',
  'completed',
  'partially_failed',
] as const;
export type BatchStatus = (typeof BATCH_STATUSES)[number];

/** Why a batch whose file was accepted is rejected after all. */
export const BATCH_REJECTIONS = ['withdrawn', 'lapsed'] as const;
export type BatchRejection = (typeof BATCH_REJECTIONS)[number];

/** Guarded by the row of its source account. All sums are of its rows, kept here so that nobody has to count them. */
export const bonusBatches = defineTable('bonus_batches', {
  id: column.uuid,
  tenantId: column.uuid,
  sourceAccountId: column.uuid,
  description: column.nullable(column.string),
  status: column.oneOf(BATCH_STATUSES),
  fileSha256: column.bytes,
  fileBytes: column.integer,
  /** The member who uploaded it. */
  createdBy: column.uuid,
  /** With which token; null for those from before it was kept. */
  tokenKeyId: column.nullable(column.string),
  createdAt: column.time,
  /** Known with the first valid row. */
  asset: column.nullable(column.asset),
  /** Data rows of the file; while validating, those read so far. */
  rowCount: column.integer,
  /** Rows with a problem. */
  rowsRejected: column.integer,
  /** Of the valid rows. */
  totalRaw: column.bigint,
  feesRaw: column.bigint,
  /** Where the fees of its rows go; null when no row has one. */
  feeAccountId: column.nullable(column.uuid),
  /** Rows whose recipient an earlier row has; the numbers of the first ones. */
  duplicateCount: column.integer,
  duplicateRows: column.integers,
  /** The newest other batch of the last 90 days with the same bytes. */
  sameFileBatchId: column.nullable(column.uuid),
  /** Which run of the validation may write: a later one shuts the earlier ones out. */
  validationRun: column.integer,
  validatedAt: column.nullable(column.time),
  executedBy: column.nullable(column.uuid),
  executedAt: column.nullable(column.time),
  /** Whether the whole debit was held when it was executed. */
  isHeld: column.boolean,
  rowsPaid: column.integer,
  rowsFailed: column.integer,
  /** Amounts and fees of the rows that are paid or failed: what of the hold is no longer needed. */
  settledRaw: column.bigint,
  pausedAt: column.nullable(column.time),
  pausedBy: column.nullable(column.string),
  /** Why, as whoever paused it said. */
  pauseReason: column.nullable(column.string),
  /** No row is paid from then on. */
  canceledAt: column.nullable(column.time),
  finishedAt: column.nullable(column.time),
  /** Null where the file was refused: the problems say why. */
  rejectionCode: column.nullable(column.oneOf(BATCH_REJECTIONS)),
  /** Since when its errors or result file can be had; null before, and once retention has removed it. */
  filesMadeAt: column.nullable(column.time),
});
export type BonusBatch = RowOf<typeof bonusBatches>;

export const BATCH_ROW_STATUSES = ['pending', 'paid', 'failed'] as const;
export type BatchRowStatus = (typeof BATCH_ROW_STATUSES)[number];

/** A valid row of a batch. The primary key is (batch, number); the id names it in its idempotency key. */
export const bonusBatchRows = defineTable(
  'bonus_batch_rows',
  {
    id: column.uuid,
    batchId: column.uuid,
    /** As a spreadsheet shows it: the first data row is 2. */
    number: column.integer,
    /** As the file names it. */
    recipient: column.string,
    /** Resolved at validation; paid whatever happens to its alias or phone later. */
    recipientAccountId: column.uuid,
    raw: column.bigint,
    feeRaw: column.bigint,
    description: column.nullable(column.string),
    reference: column.nullable(column.string),
    status: column.oneOf(BATCH_ROW_STATUSES),
    bonusId: column.nullable(column.uuid),
    /** Why it failed. */
    code: column.nullable(column.string),
    message: column.nullable(column.string),
    settledAt: column.nullable(column.time),
  },
  ['batchId', 'number'],
);
export type BonusBatchRow = RowOf<typeof bonusBatchRows>;

/** Everything that is wrong in a file, in its order. */
export const bonusBatchProblems = defineTable(
  'bonus_batch_problems',
  {
    batchId: column.uuid,
    /** 0 where it is about the file as a whole. */
    number: column.integer,
    /** Its place among those of the row. */
    ordinal: column.integer,
    /** The column's name; empty where it is about none. */
    field: column.string,
    code: column.string,
    message: column.string,
    /** What the cell holds, shortened. */
    value: column.string,
  },
  ['batchId', 'number', 'ordinal'],
);
export type BonusBatchProblem = RowOf<typeof bonusBatchProblems>;

/** What is stored of a batch beside its own row: counted for the tenant's quotas, and removed after a while. */
export const bonusBatchStorage = defineTable(
  'bonus_batch_storage',
  {
    batchId: column.uuid,
    tenantId: column.uuid,
    /** Of the uploaded file; 0 once it is removed. */
    fileBytes: column.integer,
    /** Rows in bonus_batch_problems. */
    problemRows: column.integer,
    /** Rows in bonus_batch_rows that have paid nobody, as far as the batch has ended. */
    unpaidRows: column.integer,
    /** When its rows and problems were removed, and its files; null while they are there. */
    rowsRemovedAt: column.nullable(column.time),
    /** Up to this row of the file the recipient budget has paid for its names. */
    chargedRow: column.integer,
    /** Which making of its files may write: a later one shuts the earlier ones out. */
    filesRun: column.integer,
    /** Of its finished files; null while there are none. */
    csvBytes: column.nullable(column.integer),
    xlsxBytes: column.nullable(column.integer),
  },
  ['batchId'],
);
export type BonusBatchStorage = RowOf<typeof bonusBatchStorage>;

/** Of a batch of which nothing but the upload is kept. */
export function storageOf({
  id,
  tenantId,
  fileBytes,
}: Pick<BonusBatch, 'id' | 'tenantId' | 'fileBytes'>): BonusBatchStorage {
  const counts = { problemRows: 0, unpaidRows: 0, filesRun: 0, chargedRow: 0 };
  return { batchId: id, tenantId, fileBytes, ...counts, rowsRemovedAt: null, csvBytes: null, xlsxBytes: null };
}

/** The bytes of an uploaded file, at most 1 MiB a row: one large parameter would break max_allowed_packet. */
export const uploadChunks = defineTable(
  'upload_chunks',
  {
    batchId: column.uuid,
    /** From 0; every one but the last is full. */
    number: column.integer,
    content: column.bytes,
  },
  ['batchId', 'number'],
);

/** The bytes of the files that a batch gives back. What is here counts once the batch's row says that they are made. */
export const bonusBatchFiles = defineTable(
  'bonus_batch_files',
  {
    batchId: column.uuid,
    format: column.oneOf(['csv', 'xlsx']),
    /** From 0; every one but the last is full. */
    number: column.integer,
    content: column.bytes,
  },
  ['batchId', 'format', 'number'],
);
