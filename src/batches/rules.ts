import type { Uuid } from '../core/ids.js';
import type { Instant } from '../core/instant.js';
import type { Refusal } from '../core/errors.js';
import type { Fee } from '../accounts/rules.js';
import type { BatchStatus, BonusBatch, BonusBatchRow } from '../db/entities/bonuses.js';

/** What is true of batches and their rows. Pure. */

export const MAX_ROWS = 100_000;

/** How long an uploaded file is remembered for the review: a later one with the same bytes shows it. */
export const SAME_FILE_MS = 90 * 24 * 3_600_000;
/** Of the rows that repeat a recipient, those that are named. */
export const MAX_DUPLICATES_NAMED = 100;

/** Why a row was not paid. */
export type RowFailure = Refusal | { readonly code: 'canceled'; readonly message: string };

export const CANCELED: RowFailure = { code: 'canceled', message: 'the batch was canceled before this row was paid' };

/** The statuses in which execute is possible, in the contract's words. */
export const EXECUTABLE: readonly BatchStatus[] = ['ready'];
/** Those in which its tenant can withdraw it. */
export const WITHDRAWABLE: readonly BatchStatus[] = ['ready'];
/** Those in which support can pause and resume it. */
export const PAUSABLE: readonly BatchStatus[] = ['executing'];
/** Those in which support can cancel it: what is ready is withdrawn. */
export const CANCELABLE: readonly BatchStatus[] = ['ready', 'executing'];

export const SETTLED: Refusal = {
  code: 'invalid_state',
  message: 'every row of the batch is paid or refused already: it ends with its result file',
};

export function stateRefusal(current: BatchStatus, allowed: readonly BatchStatus[]): Refusal {
  return {
    code: 'invalid_state',
    message: `the batch is ${current}; this is possible only while it is ${allowed.join(' or ')}`,
    details: { current, allowed },
  };
}

/** True once the file was accepted: the sums, the review and the rows are final, whatever became of the batch. */
export function isAccepted({ status, rejectionCode }: Pick<BonusBatch, 'status' | 'rejectionCode'>): boolean {
  return status !== 'validating' && (status !== 'rejected' || rejectionCode !== null);
}

/** True once the file was refused: there is an errors file. */
export function isFaulty({ status, rejectionCode }: Pick<BonusBatch, 'status' | 'rejectionCode'>): boolean {
  return status === 'rejected' && rejectionCode === null;
}

/** True when a batch that is ready has waited so long for its execution that it ends. */
export function hasLapsed({ status, validatedAt }: BonusBatch, readyForMs: number, at: Instant): boolean {
  return status === 'ready' && validatedAt !== null && at >= validatedAt + readyForMs;
}

export function isExecuted({ status }: Pick<BonusBatch, 'status'>): boolean {
  return status === 'executing' || isFinished({ status });
}

export function isFinished({ status }: Pick<BonusBatch, 'status'>): boolean {
  return status === 'completed' || status === 'partially_failed';
}

/** Which file a batch gives back: what is wrong in its upload, or what became of its rows. */
export type BatchFile = 'errors' | 'result';

/** False before it is made, and once retention has removed it. */
export function hasFile(batch: Pick<BonusBatch, 'status' | 'rejectionCode' | 'filesMadeAt'>, file: BatchFile): boolean {
  return batch.filesMadeAt !== null && (file === 'errors' ? isFaulty(batch) : isFinished(batch));
}

/** True while support has stopped the payment of the rows that are left. */
export function isPaused(batch: BonusBatch): boolean {
  return batch.status === 'executing' && batch.pausedAt !== null && batch.canceledAt === null && pendingRows(batch) > 0;
}

export function pendingRows({ rowCount, rowsPaid, rowsFailed }: BonusBatch): number {
  return rowCount - rowsPaid - rowsFailed;
}

/** Amount and fee: what the row takes out of the source account. */
export function debitOf({ raw, feeRaw }: Pick<BonusBatchRow, 'raw' | 'feeRaw'>): bigint {
  return raw + feeRaw;
}

export function totalDebit({ totalRaw, feesRaw }: Pick<BonusBatch, 'totalRaw' | 'feesRaw'>): bigint {
  return totalRaw + feesRaw;
}

/** What is not yet paid or refused, fees included. */
export function unsettledDebit(batch: BonusBatch): bigint {
  return totalDebit(batch) - batch.settledRaw;
}

/** As it was fixed at validation. */
export function feeOfRow({ feeAccountId }: BonusBatch, { feeRaw }: BonusBatchRow): Fee {
  if (feeRaw !== 0n && feeAccountId === null) throw new Error('a row has a fee that goes nowhere');
  return { raw: feeRaw, accountId: feeRaw === 0n ? null : feeAccountId };
}

/** The batch after one of its rows was paid or refused. */
export function afterRow(batch: BonusBatch, row: BonusBatchRow, isPaid: boolean): BonusBatch {
  return {
    ...batch,
    rowsPaid: batch.rowsPaid + (isPaid ? 1 : 0),
    rowsFailed: batch.rowsFailed + (isPaid ? 0 : 1),
    settledRaw: batch.settledRaw + debitOf(row),
  };
}

/** True when nothing is left to pay: it ends with its result file. */
export function isSettled(batch: BonusBatch): boolean {
  return batch.status === 'executing' && pendingRows(batch) === 0;
}

/** The idempotency key of a row's payment. */
export function rowKey(rowId: Uuid): string {
  return `batch-row/${rowId}`;
}
