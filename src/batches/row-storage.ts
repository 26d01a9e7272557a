import { hash } from 'node:crypto';
import { idFromDigest, timeOfId } from '../core/ids.js';
import { uuid } from '../db/columns.js';
import type { Transaction } from '../db/database.js';
import { type Batch, batchProblems, type BatchRow, batchRows } from '../db/entities/batches.js';
import { payoutSecrets } from '../db/entities/payouts.js';
import { insertSql } from '../db/statements.js';
import type { BatchKind } from './kind.js';
import type { ValidRow } from './validation/rows.js';

const ROWS_PER_DELETE = 5_000;

/**
 * Returns statements that store valid rows, and their secrets sealed. A row has the same id in every
 * validation of its batch, so that a rail knows it after a restore to before its validation.
 */
export function insertRowsSql(
  { seal }: BatchKind,
  batchId: Batch['id'],
  rows: readonly ValidRow[],
): string[] {
  const digest = hash('sha256', `rows of batch ${batchId}`, 'buffer');
  const createdAt = timeOfId(batchId);
  const unsettled = { paymentId: null, code: null, message: null, settledAt: null };
  const pending = rows.map((row): BatchRow & ValidRow => {
    const id = idFromDigest(createdAt, digest, row.number);
    return { id, batchId, ...row, status: 'pending', ...unsettled };
  });
  const sealed = pending.flatMap(({ id, secrets }) =>
    secrets === null || seal === null ? [] : [seal(id, secrets)],
  );
  const statements = pending.length === 0 ? [] : [insertSql(batchRows, pending)];
  return sealed.length === 0 ? statements : [...statements, insertSql(payoutSecrets, sealed)];
}

/**
 * Deletes some rows of a batch, and the secrets of those that did not become payouts. Returns whether more
 * may be left.
 */
export async function deleteSomeRows(
  transaction: Transaction,
  { id, kind }: Pick<Batch, 'id' | 'kind'>,
): Promise<boolean> {
  const some = `FROM batch_rows WHERE batch_id=${uuid.literal(id)} ORDER BY number LIMIT ${ROWS_PER_DELETE}`;
  if (kind === 'payout')
    await transaction.execute(
      `DELETE s FROM payout_secrets s JOIN (SELECT id, payment_id ${some}) r ON r.id=s.id AND r.payment_id IS NULL`,
    );
  return (await transaction.execute(`DELETE ${some}`)) === ROWS_PER_DELETE;
}

/** Deletes some problems of a batch. Returns whether more may be left. */
export async function deleteSomeProblems(
  transaction: Transaction,
  { id }: Pick<Batch, 'id'>,
): Promise<boolean> {
  const deleted = await transaction.execute(
    `DELETE FROM ${batchProblems.name} WHERE batch_id=${uuid.literal(id)} ORDER BY number LIMIT ${ROWS_PER_DELETE}`,
  );
  return deleted === ROWS_PER_DELETE;
}
