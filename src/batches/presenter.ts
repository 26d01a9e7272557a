import { type Amount, amountJson, formatAmount } from '../core/amount.js';
import { toRfc3339 } from '../core/instant.js';
import type { BonusBatch, BonusBatchRow } from '../db/entities/bonuses.js';
import type { EarlierPayments } from './earlier-payments.js';
import { hasFile, isAccepted, isExecuted, pendingRows, totalDebit } from './rules.js';

type Shown = Readonly<Record<string, unknown>>;

/** Data that is valid only at the time of the response. Events contain the batch without it. */
export interface BatchReview {
  /** Available amount of the source account in the batch's asset. */
  readonly available: bigint;
  readonly canSend: boolean;
  /** Null in lists, which do not search for earlier payments. */
  readonly earlier: EarlierPayments | null;
}

/**
 * Returns the batch as events contain it. `baseUrl` is the base URL of the API for tenants.
 * (docs/contract.md, Batches)
 */
export function presentBatch(batch: BonusBatch, baseUrl: string): Shown {
  const { asset } = batch;
  const amount = (raw: bigint): Amount | null => (asset === null ? null : { raw, asset });
  const shown = (of: Amount | null): Shown | null => (of === null ? null : { ...amountJson(of) });
  const accepted = isAccepted(batch);
  const files = `${baseUrl}/v1/bonus_batches/${batch.id}/files`;
  return {
    id: batch.id,
    status: batch.status,
    source_account: batch.sourceAccountId,
    description: batch.description,
    rows: batch.rowCount,
    rows_rejected: batch.rowsRejected,
    total: shown(amount(batch.totalRaw)),
    fees: accepted ? shown(amount(batch.feesRaw)) : null,
    total_debit: accepted ? shown(amount(totalDebit(batch))) : null,
    duplicates: accepted
      ? {
          count: batch.duplicateCount,
          rows: batch.duplicateRows,
          same_file_batch_id: batch.sameFileBatchId,
        }
      : null,
    hidden:
      batch.validatedAt === null
        ? null
        : { rows: batch.hiddenRows, skipped_sheets: batch.skippedSheets },
    files: {
      errors_url: hasFile(batch, 'errors') ? `${files}/errors` : null,
      result_url: hasFile(batch, 'result') ? `${files}/result` : null,
    },
    rejection: batch.rejectionCode === null ? null : { code: batch.rejectionCode },
    created_at: toRfc3339(batch.createdAt),
    executed_at: toRfc3339(batch.executedAt),
    finished_at: toRfc3339(batch.finishedAt),
  };
}

/**
 * Returns the batch as responses contain it: with the review if it is ready, and with the progress
 * once it was executed.
 */
export function presentBatchNow(
  batch: BonusBatch,
  baseUrl: string,
  review: BatchReview | null,
): Shown {
  const needed = totalDebit(batch);
  const isReady = batch.status === 'ready' && review !== null;
  const missing = isReady && needed > review.available ? needed - review.available : 0n;
  return {
    ...presentBatch(batch, baseUrl),
    funding: isReady
      ? {
          available: review.available.toString(),
          sufficient: missing === 0n,
          shortfall: missing.toString(),
        }
      : null,
    can_send: isReady ? review.canSend : null,
    earlier_payments: isReady ? presentEarlier(review.earlier) : null,
    ...formattedTotals(batch, isReady),
    progress: isExecuted(batch)
      ? { paid: batch.rowsPaid, failed: batch.rowsFailed, pending: pendingRows(batch) }
      : null,
  };
}

function presentEarlier(earlier: EarlierPayments | null): Shown | null {
  if (earlier === null) return null;
  const rows = earlier.rows.map(({ number, batchId, bonusId }) => ({
    row: number,
    batch_id: batchId,
    bonus_id: bonusId,
  }));
  return { count: earlier.count, rows };
}

/** Returns the formatted totals of a ready batch, or null. */
function formattedTotals(batch: BonusBatch, isReady: boolean): Shown {
  const { asset } = batch;
  const formatted = (raw: bigint): string | null =>
    asset === null || !isReady ? null : formatAmount({ raw, asset });
  return {
    total_formatted: formatted(batch.totalRaw),
    fees_formatted: formatted(batch.feesRaw),
    total_debit_formatted: formatted(totalDebit(batch)),
  };
}

export function presentBatchRow(row: BonusBatchRow, batch: Pick<BonusBatch, 'asset'>): Shown {
  const amount = (raw: bigint): Shown | null =>
    batch.asset === null ? null : { ...amountJson({ raw, asset: batch.asset }) };
  return {
    row: row.number,
    status: row.status,
    recipient: row.recipient,
    account_id: row.recipientAccountId,
    amount: amount(row.raw),
    fee: amount(row.feeRaw),
    description: row.description,
    reference: row.reference,
    bonus_id: row.bonusId,
    failure: row.code === null ? null : { code: row.code, message: row.message },
    paid_at: row.status === 'paid' && row.settledAt !== null ? toRfc3339(row.settledAt) : null,
  };
}
