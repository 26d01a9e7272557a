import type { AuditDetails, AuditEntry } from '../access/audit-log.js';
import type { Uuid } from '../core/ids.js';
import { ASSETS, disjunction, formatAmount } from '../core/amount.js';
import type { Instant } from '../core/instant.js';
import { invalidState, type Refusal } from '../core/errors.js';
import type { Fee } from '../accounts/rules.js';
import type { Batch, BatchRow, BatchStatus, BatchType } from '../db/entities/batches.js';

export const MAX_ROWS = 100_000;

/** The amount in the template, in messages and in the guides. */
export const EXAMPLE_RAW = 150_000n;
export const EXAMPLE_AMOUNTS = disjunction(
  ASSETS.map((asset) => formatAmount({ raw: EXAMPLE_RAW, asset })),
);

/** Time after its validation at which a batch that was not executed lapses. */
export const READY_MS = 30 * 24 * 3_600_000;

/** Age up to which an earlier upload of the same bytes is mentioned in the review. */
export const SAME_FILE_MS = 90 * 24 * 3_600_000;
export const MAX_DUPLICATES_NAMED = 100;

export type RowFailure = Refusal | { readonly code: 'canceled'; readonly message: string };

export const CANCELED: RowFailure = {
  code: 'canceled',
  message: 'the batch was canceled before this row was paid',
};

export const EXECUTABLE: readonly BatchStatus[] = ['ready'];
export const WITHDRAWABLE: readonly BatchStatus[] = ['ready'];
export const PAUSABLE: readonly BatchStatus[] = ['executing'];
/** Cancellation a ready batch withdraws it. */
export const CANCELABLE: readonly BatchStatus[] = ['ready', 'executing'];

export const SETTLED = invalidState(
  'every row of the batch is paid or refused already: it ends with its result file',
);

export function stateRefusal(current: BatchStatus, allowed: readonly BatchStatus[]): Refusal {
  const when = allowed.join(' or ');
  return invalidState(
    `the batch is ${current}; this is possible only while it is ${when}`,
    current,
    allowed,
  );
}

/** Returns whether the file was accepted. Sums and rows are final then. */
export function isAccepted({
  status,
  rejectionCode,
}: Pick<Batch, 'status' | 'rejectionCode'>): boolean {
  return status !== 'validating' && (status !== 'rejected' || rejectionCode !== null);
}

/** Returns whether the file was rejected, so that the batch has an errors file. */
function isFileRejected({
  status,
  rejectionCode,
}: Pick<Batch, 'status' | 'rejectionCode'>): boolean {
  return status === 'rejected' && rejectionCode === null;
}

export function hasLapsed(
  { status, validatedAt }: Batch,
  readyForMs: number,
  at: Instant,
): boolean {
  return status === 'ready' && validatedAt !== null && at >= validatedAt + readyForMs;
}

export function isExecuted({ status }: Pick<Batch, 'status'>): boolean {
  return status === 'executing' || isFinished({ status });
}

function isFinished({ status }: Pick<Batch, 'status'>): boolean {
  return status === 'completed' || status === 'partially_failed';
}

export type BatchFile = 'errors' | 'result';

/** Returns false until the file is generated, and after retention has removed it. */
export function hasFile(
  batch: Pick<Batch, 'status' | 'rejectionCode' | 'filesGeneratedAt'>,
  file: BatchFile,
): boolean {
  return (
    batch.filesGeneratedAt !== null &&
    (file === 'errors' ? isFileRejected(batch) : isFinished(batch))
  );
}

export function isPaused(batch: Batch): boolean {
  return (
    batch.status === 'executing' &&
    batch.pausedAt !== null &&
    batch.canceledAt === null &&
    pendingRows(batch) > 0
  );
}

export function pendingRows({ rowCount, rowsPaid, rowsFailed }: Batch): number {
  return rowCount - rowsPaid - rowsFailed;
}

export function debitOf({ raw, feeRaw }: Pick<BatchRow, 'raw' | 'feeRaw'>): bigint {
  return raw + feeRaw;
}

export function totalDebit({ totalRaw, feesRaw }: Pick<Batch, 'totalRaw' | 'feesRaw'>): bigint {
  return totalRaw + feesRaw;
}

export function unsettledDebit(batch: Batch): bigint {
  return totalDebit(batch) - batch.settledRaw;
}

export function feeOfRow({ feeAccountId }: Batch, { feeRaw }: BatchRow): Fee {
  if (feeRaw !== 0n && feeAccountId === null)
    throw new Error('a row has a fee, but the batch has no fee account');
  return { raw: feeRaw, accountId: feeRaw === 0n ? null : feeAccountId };
}

export function withSettledRow(batch: Batch, row: BatchRow): Batch {
  const isPaid = row.status === 'paid';
  return {
    ...batch,
    rowsPaid: batch.rowsPaid + (isPaid ? 1 : 0),
    rowsFailed: batch.rowsFailed + (isPaid ? 0 : 1),
    settledRaw: batch.settledRaw + debitOf(row),
  };
}

export function isSettled(batch: Batch): boolean {
  return batch.status === 'executing' && pendingRows(batch) === 0;
}

/** Returns the type under which events, the audit log, the outbox and keys name the batch. */
export function batchType({ kind }: Pick<Batch, 'kind'>): BatchType {
  return `${kind}_batch`;
}

/** Returns the folder of a kind's pages at the support desk. */
export function batchPath(kind: Batch['kind']): 'batches' | 'payout_batches' {
  return kind === 'bonus' ? 'batches' : 'payout_batches';
}

type BatchVerb = 'pause' | 'resume' | 'cancel';

export function batchAudit(
  batch: Pick<Batch, 'kind' | 'tenantId' | 'id'>,
  action: BatchVerb | `${BatchVerb}_refused`,
  details: AuditDetails = {},
): AuditEntry {
  const { tenantId, id: subjectId } = batch;
  const subjectType = batchType(batch);
  return { tenantId, subjectType, subjectId, action: `${subjectType}.${action}`, details };
}

export function progressDetails({ rowsPaid, rowsFailed, rowCount }: Batch): AuditDetails {
  return { paid: rowsPaid, failed: rowsFailed, rows: rowCount };
}

export function rowKey(rowId: Uuid): string {
  return `batch-row/${rowId}`;
}

/**
 * Rows of a ready batch whose reference was paid, or is going to be paid by another batch, to the
 * same account. (docs/contract.md, Review)
 */
export interface EarlierPayments {
  readonly count: number;
  /** The first `MAX_DUPLICATES_NAMED` in file order. */
  readonly rows: readonly EarlierPayment[];
}

interface EarlierPayment {
  readonly number: number;
  /** Null for a single bonus. */
  readonly batchId: Uuid | null;
  /** The newest bonus with the reference. Null if only an open batch is going to pay it. */
  readonly paymentId: Uuid | null;
}

/** Data that is valid only at the time of the response. Events contain the batch without it. */
export interface BatchReview {
  readonly available: bigint;
  readonly canSend: boolean;
  /** Null in lists, which do not search for earlier payments. */
  readonly earlier: EarlierPayments | null;
}
