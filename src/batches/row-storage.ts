import { hash } from 'node:crypto';
import { idFromDigest, timeOfId, type Uuid } from '../core/ids.js';
import { uuid } from '../db/columns.js';
import type { Reader, Transaction } from '../db/database.js';
import {
  type Batch,
  batches,
  batchProblems,
  type BatchRow,
  batchRows,
} from '../db/entities/batches.js';
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
  const idOf = rowIds(batchId);
  const unsettled = { paymentId: null, code: null, message: null, settledAt: null };
  const pending = rows.map((row): BatchRow & ValidRow => {
    return { id: idOf(row.number), batchId, ...row, status: 'pending', ...unsettled };
  });
  const sealed = pending.flatMap(({ id, secrets }) =>
    secrets === null || seal === null ? [] : [seal(id, secrets)],
  );
  const statements = pending.length === 0 ? [] : [insertSql(batchRows, pending)];
  return sealed.length === 0 ? statements : [...statements, insertSql(payoutSecrets, sealed)];
}

/** Returns the id of each row by its number. The ids have the order of the numbers. */
export function rowIds(batchId: Uuid): (number: number) => Uuid {
  const digest = hash('sha256', `rows of batch ${batchId}`, 'buffer');
  return (number) => idFromDigest(timeOfId(batchId), digest, number);
}

/** Time and random part of an id, which all rows of a batch have in common. */
const withoutNumber = (id: Uuid): string => `${id.slice(0, 13)}…${id.slice(-10)}`;

/** Returns a function that finds the batch, not ended, of a row by its id, also before the row is validated. */
export async function openPayoutBatches(
  reader: Reader,
): Promise<(rowId: Uuid) => Batch | undefined> {
  const open = await reader.list(
    batches,
    `WHERE kind='payout' AND status IN ('validating','ready','executing')`,
  );
  const byRow = new Map(open.map((batch) => [withoutNumber(rowIds(batch.id)(1)), batch]));
  return (rowId) => byRow.get(withoutNumber(rowId));
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
