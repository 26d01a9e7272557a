/** Fields that every kind of batches shows. */

import { amountJson, EXAMPLE_ASSET, formatAmount } from '../core/amount.js';
import { toRfc3339 } from '../core/instant.js';
import {
  type Batch,
  BATCH_REJECTIONS,
  type BatchRejection,
  BATCH_STATUSES,
  type BatchStatus,
} from '../db/entities/batches.js';
import { EXAMPLE, z } from '../http/zod.js';
import { fieldsOf, withValues } from '../http/resource.js';
import {
  type AmountSchema,
  instantSchema,
  nullableAmountSchema,
  rawSchema,
  uuidSchema,
} from '../http/schemas.js';
import { type BatchReview, batchType, hasFile, isAccepted, totalDebit } from './rules.js';
import { type PayoutCounts } from './payout-counts.js';

export const count = z.int().nonnegative();
const fileUrl = z.string().nullable().openapi({ format: 'uri' });

export interface EventSource {
  readonly batch: Batch;
  readonly baseUrl: string;
}

/** `review` is null unless it was read, which only a ready batch needs. */
export interface ReviewedBatch {
  readonly batch: Batch;
  readonly review: BatchReview | null;
  /** The number of payouts by status. Null unless it is an executed batch of payouts. */
  readonly payouts: PayoutCounts | null;
}

function amountOf({ asset }: Batch, raw: bigint) {
  return asset === null ? null : amountJson({ raw, asset });
}

function urlOf({ batch, baseUrl }: EventSource, file: 'errors' | 'result'): string | null {
  return hasFile(batch, file)
    ? `${baseUrl}/v1/${batchType(batch)}es/${batch.id}/files/${file}`
    : null;
}

const exampleAmount = (raw: string): z.input<typeof AmountSchema> => ({
  raw,
  asset: EXAMPLE.asset,
});
const REJECTION_MEANINGS = withValues<BatchRejection>('The cause, for machines.', {
  withdrawn: 'its uploader, an admin, an owner or support withdrew it. Nothing is left to do',
  lapsed: 'it was not executed within 30 days. Upload the file again to pay it',
});
export const eventField = fieldsOf<EventSource>();

/** The meanings of the states in which a batch ends differ by kind. */
export const firstFields = (ends: Readonly<Record<'completed' | 'partially_failed', string>>) => ({
  id: eventField('The id of the batch.', uuidSchema, EXAMPLE.id, ({ batch }) => batch.id),
  status: eventField(
    withValues<BatchStatus>('The state. Nothing is paid before `executing`.', {
      validating: 'its rows are being checked. Becomes `ready` or `rejected`',
      ready:
        'every row is valid. Becomes `executing`, or `rejected` if it is withdrawn or not executed within 30 days',
      rejected:
        'its file has a problem, which its errors file lists, or `rejection` says why. Final',
      executing: 'its rows are being paid. Becomes `completed` or `partially_failed`',
      ...ends,
    }),
    z.enum(BATCH_STATUSES),
    'ready',
    ({ batch }) => batch.status,
  ),
});

export const EVENT_FIELDS = {
  description: eventField(
    'The text that was given with the upload.',
    z.string().nullable(),
    'November',
    ({ batch }) => batch.description,
  ),
  rows: eventField(
    'Rows in the file; while validating, those read so far.',
    count,
    2,
    ({ batch }) => batch.rowCount,
  ),
  rows_rejected: eventField(
    'Rows with a problem. One is enough to reject the whole file.',
    count,
    0,
    ({ batch }) => batch.rowsRejected,
  ),
  total: eventField(
    'Of the valid rows; null until the asset is known.',
    nullableAmountSchema,
    exampleAmount('300000'),
    ({ batch }) => amountOf(batch, batch.totalRaw),
  ),
  fees: eventField('Once ready.', nullableAmountSchema, exampleAmount('300'), ({ batch }) =>
    isAccepted(batch) ? amountOf(batch, batch.feesRaw) : null,
  ),
  total_debit: eventField(
    'The total plus the fees. Once ready.',
    nullableAmountSchema,
    exampleAmount('300300'),
    ({ batch }) => (isAccepted(batch) ? amountOf(batch, totalDebit(batch)) : null),
  ),
  duplicates: eventField(
    'Rows and files that may be a mistake; null until ready. A warning.',
    z
      .object({
        count: count.describe('Rows with the same recipient as an earlier row.'),
        rows: z.array(count).describe('The first 100 of them.'),
        same_file_batch_id: uuidSchema
          .nullable()
          .describe('The most recent earlier batch with the same bytes, within the last 90 days.'),
      })
      .nullable(),
    { count: 0, rows: [], same_file_batch_id: null },
    ({ batch }) =>
      isAccepted(batch)
        ? {
            count: batch.duplicateCount,
            rows: [...batch.duplicateRows],
            same_file_batch_id: batch.sameFileBatchId,
          }
        : null,
  ),
  hidden: eventField(
    'Once validated.',
    z
      .object({
        rows: count.describe(
          'Rows that are hidden in the spreadsheet. They are paid like all rows.',
        ),
        columns: z
          .array(z.string())
          .describe('Columns that are hidden in the spreadsheet, or zero wide. They are read.'),
        skipped_sheets: count.describe(
          'Hidden sheets before the sheet that was read. Their rows are not paid.',
        ),
      })
      .nullable(),
    { rows: 0, columns: [], skipped_sheets: 0 },
    ({ batch: { validatedAt, hiddenRows: rows, hiddenColumns, skippedSheets } }) =>
      validatedAt === null
        ? null
        : { rows, columns: [...hiddenColumns], skipped_sheets: skippedSheets },
  ),
  unread_sheets: eventField(
    'Once validated: the names of the first 100 other visible sheets with content. Their rows are not paid.',
    z.array(z.string()).nullable(),
    [],
    ({ batch: { validatedAt, unreadSheets } }) => (validatedAt === null ? null : [...unreadSheets]),
  ),
  files: eventField(
    'The URLs of the files about the batch.',
    z.object({
      errors_url: fileUrl.describe(
        'Which rows failed and why; null before the rejection, and after retention has removed it.',
      ),
      result_url: fileUrl.describe(
        'The outcome of each row; null before the batch has ended, and after retention has removed it.',
      ),
    }),
    { errors_url: null, result_url: null },
    (source) => ({ errors_url: urlOf(source, 'errors'), result_url: urlOf(source, 'result') }),
  ),
  rejection: eventField(
    'Why a batch whose file was accepted was rejected: it was withdrawn, or nobody executed it in time.',
    z.object({ code: z.enum(BATCH_REJECTIONS).describe(REJECTION_MEANINGS) }).nullable(),
    null,
    ({ batch: { rejectionCode: code } }) => (code === null ? null : { code }),
  ),
  created_at: eventField('When it was uploaded.', instantSchema, EXAMPLE.at, ({ batch }) =>
    toRfc3339(batch.createdAt),
  ),
  executed_at: eventField(
    'When a member executed it; null until then.',
    instantSchema.nullable(),
    null,
    ({ batch }) => toRfc3339(batch.executedAt),
  ),
  finished_at: eventField(
    'When it ended; null until then.',
    instantSchema.nullable(),
    null,
    ({ batch }) => toRfc3339(batch.finishedAt),
  ),
};

export function reviewOf({ batch, review }: ReviewedBatch): BatchReview | null {
  return batch.status === 'ready' ? review : null;
}

export const responseField = fieldsOf<ReviewedBatch>();
const exampleOf = (raw: bigint): string => formatAmount({ raw, asset: EXAMPLE_ASSET });

function formattedField(raw: (batch: Batch) => bigint, example: bigint) {
  return responseField(
    `While ready: the amount for people, such as ${exampleOf(150_000n)}.`,
    z.string().nullable(),
    exampleOf(example),
    (source) => {
      const { asset } = source.batch;
      if (asset === null || reviewOf(source) === null) return null;
      return formatAmount({ raw: raw(source.batch), asset });
    },
  );
}

export const FUNDING_FIELDS = {
  funding: responseField(
    'While ready: whether the source account covers the debit now.',
    z
      .object({
        available: rawSchema.describe('What the source account can spend.'),
        sufficient: z.boolean().describe('Whether that covers the debit.'),
        shortfall: rawSchema.describe('What is missing; 0 if nothing is.'),
      })
      .nullable(),
    { available: '49850000', sufficient: true, shortfall: '0' },
    (source) => {
      const review = reviewOf(source);
      if (review === null) return null;
      const needed = totalDebit(source.batch);
      const missing = needed > review.available ? needed - review.available : 0n;
      return {
        available: review.available.toString(),
        sufficient: missing === 0n,
        shortfall: missing.toString(),
      };
    },
  ),
  can_send: responseField(
    'While ready: whether the source account may send now.',
    z.boolean().nullable(),
    true,
    (source) => reviewOf(source)?.canSend ?? null,
  ),
};

export const FORMATTED_FIELDS = {
  total_formatted: formattedField(({ totalRaw }) => totalRaw, 300_000n),
  fees_formatted: formattedField(({ feesRaw }) => feesRaw, 300n),
  total_debit_formatted: formattedField(totalDebit, 300_300n),
};
