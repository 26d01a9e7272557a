import * as column from '../columns.js';
import { defineTable, type RowOf } from '../table.js';

/** Files of payments, which are validated together and paid once the batch is executed. */

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

/** The kinds of payments that the rows of a batch become. (docs/contract.md, Batches) */
export const BATCH_KINDS = ['bonus', 'payout'] as const;
export type BatchKindName = (typeof BATCH_KINDS)[number];
export type BatchType = `${BatchKindName}_batch`;

/** Changed only under the lock of the source account's row. Sums are over the batch's rows. */
export const batches = defineTable(
  'batches',
  {
    id: column.uuid,
    kind: column.oneOf(BATCH_KINDS),
    tenantId: column.uuid,
    sourceAccountId: column.uuid,
    description: column.nullable(column.varchar(140)),
    status: column.oneOf(BATCH_STATUSES),
    fileSha256: column.binary(32),
    fileBytes: column.integer,
    createdBy: column.uuid,
    tokenKeyId: column.ascii(32),
    createdAt: column.time,
    /** Known from the first valid row on. */
    asset: column.nullable(column.asset),
    /** While validating, the rows read so far. */
    rowCount: column.integer,
    rowsRejected: column.integer,
    totalRaw: column.bigint,
    feesRaw: column.bigint,
    feeAccountId: column.nullable(column.uuid),
    /** Count of rows that repeat the recipient of an earlier row. */
    duplicateCount: column.integer,
    /** Numbers of the first of these rows. */
    duplicateRows: column.integers(1000),
    /** Hidden data rows and columns, and hidden sheets before the sheet that was read. */
    hiddenRows: column.integer,
    hiddenColumns: column.texts,
    skippedSheets: column.integer,
    /** Names of the first other visible sheets with content. */
    unreadSheets: column.texts,
    /** The newest other batch of the last 90 days with the same bytes. */
    sameFileBatchId: column.nullable(column.uuid),
    /** Number of the latest validation run, the only one that may write. */
    validationRun: column.integer,
    validatedAt: column.nullable(column.time),
    executedBy: column.nullable(column.uuid),
    executedAt: column.nullable(column.time),
    /** Whether the whole debit was held at execution. */
    isHeld: column.boolean,
    rowsPaid: column.integer,
    rowsFailed: column.integer,
    /** The part of the hold that paid and failed rows no longer need. */
    settledRaw: column.bigint,
    pausedAt: column.nullable(column.time),
    pausedBy: column.nullable(column.varchar(120)),
    pauseReason: column.nullable(column.varchar(140)),
    canceledAt: column.nullable(column.time),
    finishedAt: column.nullable(column.time),
    /** Null if the file was refused, for the reasons in the problems. */
    rejectionCode: column.nullable(column.asciiEnum(BATCH_REJECTIONS, 40)),
    /** Null before its errors or result file exists, and after retention has removed it. */
    filesGeneratedAt: column.nullable(column.time),
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
export type Batch = RowOf<typeof batches>;

export const BATCH_ROW_STATUSES = ['pending', 'paid', 'failed'] as const;
export type BatchRowStatus = (typeof BATCH_ROW_STATUSES)[number];

/** Valid rows of files. Idempotency keys of payments contain the id, and payouts have it. */
export const batchRows = defineTable(
  'batch_rows',
  {
    id: column.uuid,
    batchId: column.uuid,
    /** As in a spreadsheet: the first data row is 2. */
    number: column.integer,
    recipient: column.varchar(100),
    /**
     * The account, resolved at validation and paid even if its alias or phone changes later. For a
     * payout, a keyed digest of the bank account.
     */
    recipientKey: column.uuid,
    /** The shown parts of a payout's bank account as JSON. `payout_secrets` has the others. */
    destination: column.nullable(column.string),
    raw: column.bigint,
    feeRaw: column.bigint,
    description: column.nullable(column.varchar(140)),
    reference: column.nullable(column.varchar(64)),
    metadata: column.metadata,
    status: column.oneOf(BATCH_ROW_STATUSES),
    /** The bonus or payout that the row became. */
    paymentId: column.nullable(column.uuid),
    code: column.nullable(column.ascii(40)),
    message: column.nullable(column.varchar(300)),
    settledAt: column.nullable(column.time),
  },
  {
    key: ['batchId', 'number'],
    indexes: {
      reference: ['reference', 'recipientKey'],
      status: ['batchId', 'status', 'number'],
    },
  },
);
export type BatchRow = RowOf<typeof batchRows>;

export const batchProblems = defineTable(
  'batch_problems',
  {
    batchId: column.uuid,
    /** 0 for the file as a whole. */
    number: column.integer,
    ordinal: column.integer,
    /** Empty if it concerns no column. */
    field: column.ascii(60),
    code: column.ascii(40),
    message: column.varchar(300),
    value: column.varchar(100),
  },
  { key: ['batchId', 'number', 'ordinal'] },
);
export type BatchProblem = RowOf<typeof batchProblems>;

/** Sizes of a batch's file, rows and problems, which count towards quotas until retention removes them. */
export const batchStorage = defineTable(
  'batch_storage',
  {
    batchId: column.uuid,
    tenantId: column.uuid,
    /** 0 once the file is removed. */
    fileBytes: column.integer,
    problemRows: column.integer,
    /** Rows without a payment, once the batch has ended. */
    unpaidRows: column.integer,
    rowsRemovedAt: column.nullable(column.time),
    /** The last row whose recipients were charged to the new-recipient budget. */
    chargedRow: column.integer,
    /** Number of the latest run that generates files, the only one that may write. */
    generationAttempt: column.integer,
    /** Null while no finished files exist. */
    csvBytes: column.nullable(column.integer),
    xlsxBytes: column.nullable(column.integer),
    /** The earlier payments of an accepted batch as JSON, and when they were computed. */
    earlierPayments: column.nullable(column.string),
    earlierPaymentsAt: column.nullable(column.time),
  },
  {
    key: ['batchId'],
    indexes: {
      kept: ['rowsRemovedAt', 'batchId'],
      tenantStored: ['tenantId', 'fileBytes', 'problemRows', 'unpaidRows'],
      withoutFiles: ['rowsRemovedAt', 'csvBytes', 'batchId'],
    },
  },
);
type BatchStorage = RowOf<typeof batchStorage>;

export function storageOf({
  id,
  tenantId,
  fileBytes,
}: Pick<Batch, 'id' | 'tenantId' | 'fileBytes'>): BatchStorage {
  const counts = { problemRows: 0, unpaidRows: 0, generationAttempt: 0, chargedRow: 0 };
  return {
    batchId: id,
    tenantId,
    fileBytes,
    ...counts,
    rowsRemovedAt: null,
    csvBytes: null,
    xlsxBytes: null,
    earlierPayments: null,
    earlierPaymentsAt: null,
  };
}

/** The bytes of an uploaded file, at most 1 MiB per row because of max_allowed_packet. */
export const uploadChunks = defineTable(
  'upload_chunks',
  {
    batchId: column.uuid,
    number: column.integer,
    content: column.bytes,
  },
  { key: ['batchId', 'number'] },
);
