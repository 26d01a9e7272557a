import { type Actor, recordAction } from '../access/audit-log.js';
import { firstIdAt, type Uuid } from '../core/ids.js';
import type { Clock, Instant } from '../core/instant.js';
import { time, uuid } from '../db/columns.js';
import type { Database, DatabaseDeps, Reader, Transaction } from '../db/database.js';
import { Deadline } from '../db/deadline.js';
import {
  bonusBatches,
  bonusBatchProblems,
  bonusBatchRows,
  bonusBatchStorage,
  uploadChunks,
} from '../db/entities/bonuses.js';
import { deleteSql, updateSql } from '../db/statements.js';
import { transact } from '../db/transact.js';
import { removePieces } from '../spreadsheets/generated-files.js';

const FILES_AT_A_TIME = 100;

/**
 * Deletes the bytes of files validated before a given time, one file per transaction. An operator's
 * deletions are audited. Returns their number.
 */
export async function deleteUploadedBytes(
  { database, clock }: DatabaseDeps,
  validatedBefore: Instant,
  operator: Actor | null = null,
): Promise<number> {
  for (let deleted = 0; ;) {
    const rows = await database.reader.query(
      `SELECT c.batch_id, b.tenant_id FROM upload_chunks c JOIN bonus_batches b ON b.id=c.batch_id
       WHERE c.number=0 AND b.validated_at<${time.literal(validatedBefore)} LIMIT ${FILES_AT_A_TIME}`,
    );
    for (const row of rows)
      await transact(database, async (transaction) => {
        const batchId = uuid.parse(row.batch_id);
        await transaction.execute(deleteSql(uploadChunks, { batchId }));
        await transaction.execute(updateSql(bonusBatchStorage, { fileBytes: 0 }, { batchId }));
        if (operator === null) return;
        const subject = {
          tenantId: uuid.parse(row.tenant_id),
          subjectType: 'bonus_batch',
          subjectId: batchId,
        };
        await recordAction(transaction, operator, clock(), {
          ...subject,
          action: 'bonus_batch.delete_upload',
        });
      });
    deleted += rows.length;
    if (rows.length < FILES_AT_A_TIME) return deleted;
  }
}

const BATCHES_AT_A_TIME = 20;
const ROWS_A_DELETE = 5_000;
const MAX_REMOVAL_MS = 120_000;

export type EndedKind = 'unpaid' | 'paid';

const ENDED: Readonly<Record<EndedKind, string>> = {
  unpaid:
    "b.rows_paid=0 AND b.status IN ('rejected','partially_failed') AND COALESCE(b.finished_at, b.validated_at)",
  paid: "b.rows_paid>0 AND b.status IN ('completed','partially_failed') AND b.finished_at",
};

/**
 * Removes rows, problems and files of batches that ended before a given time, one batch per
 * transaction. If the rows contradict the batch, they are kept for the auditor. Processes a few
 * after `after`; returns the last of them, or null if no batch is left.
 */
export async function removeOldRows(
  database: Database,
  clock: Clock,
  ended: EndedKind,
  before: Instant,
  after: Uuid | null,
): Promise<Uuid | null> {
  const behind = after === null ? '' : ` AND s.batch_id>${uuid.literal(after)}`;
  const found = await database.reader.query(
    `SELECT s.batch_id, b.status FROM bonus_batch_storage s FORCE INDEX (kept) JOIN bonus_batches b ON b.id=s.batch_id
     WHERE s.rows_removed_at IS NULL AND s.batch_id<${uuid.literal(firstIdAt(before))}${behind}
       AND ${ENDED[ended]}<${time.literal(before)} ORDER BY s.batch_id LIMIT ${BATCHES_AT_A_TIME}`,
  );
  const batches = found.map((row) => ({
    batchId: uuid.parse(row.batch_id),
    wasExecuted: row.status !== 'rejected',
  }));
  for (const { batchId, wasExecuted } of batches)
    await database.withTransaction(async (transaction) => {
      const storage = await transaction.find(bonusBatchStorage, { batchId }, { forUpdate: true });
      if (
        storage?.rowsRemovedAt !== null ||
        (wasExecuted && !(await isConfirmed(transaction, batchId)))
      )
        return;
      for (const { name } of [bonusBatchRows, bonusBatchProblems, uploadChunks])
        await removeFrom(transaction, name, batchId);
      while (await removePieces(transaction, batchId));
      await transaction.execute(updateSql(bonusBatches, { filesMadeAt: null }, { id: batchId }));
      const removed = {
        fileBytes: 0,
        problemRows: 0,
        unpaidRows: 0,
        rowsRemovedAt: clock(),
        csvBytes: null,
        xlsxBytes: null,
      };
      await transaction.execute(updateSql(bonusBatchStorage, removed, { batchId }));
    }, Deadline.afterMs(MAX_REMOVAL_MS));
  return batches.length < BATCHES_AT_A_TIME ? null : (batches.at(-1)?.batchId ?? null);
}

async function removeFrom(transaction: Transaction, table: string, batchId: Uuid): Promise<void> {
  const some = `DELETE FROM ${table} WHERE batch_id=${uuid.literal(batchId)} ORDER BY number LIMIT ${ROWS_A_DELETE}`;
  while ((await transaction.execute(some)) === ROWS_A_DELETE);
}

async function isConfirmed(reader: Reader, batchId: Uuid): Promise<boolean> {
  const [row] = await reader.query(
    `SELECT IF(COUNT(*)=b.row_count AND SUM(r.raw)=b.total_raw AND SUM(r.fee_raw)=b.fees_raw
       AND SUM(r.status='paid')=b.rows_paid AND SUM(r.status='failed')=b.rows_failed AND COUNT(o.id)=b.rows_paid, 'so', 'not so') AS it_is
     FROM bonus_batches b JOIN bonus_batch_rows r ON r.batch_id=b.id
       LEFT JOIN bonuses o ON o.id=r.bonus_id AND o.batch_id=b.id AND o.batch_row=r.number AND o.raw=r.raw
     WHERE b.id=${uuid.literal(batchId)}
     GROUP BY b.id, b.row_count, b.total_raw, b.fees_raw, b.rows_paid, b.rows_failed`,
  );
  return row?.it_is === 'so';
}
