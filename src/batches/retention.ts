import { type Actor, recordAct } from '../access/audit-log.js';
import type { Uuid } from '../core/ids.js';
import type { Clock, Instant } from '../core/instant.js';
import { time, uuid } from '../db/columns.js';
import type { Database, Transaction } from '../db/database.js';
import { transact } from '../db/transact.js';

const FILES_AT_A_TIME = 100;

/**
 * Deletes the bytes of files that were validated before a moment; their hash stays on the batch. A file a transaction, so
 * it may be cut off anywhere and run twice. Answers how many files it deleted. Throws DatabaseUnavailable.
 */
export async function deleteUploadedBytes(database: Database, validatedBefore: Instant): Promise<number> {
  return deleteFiles(database, validatedBefore, () => Promise.resolve());
}

/** The same by an operator: each file with a line in the audit log. */
export async function deleteUploadedBytesAs(
  database: Database,
  clock: Clock,
  validatedBefore: Instant,
  actor: Actor,
): Promise<number> {
  return deleteFiles(database, validatedBefore, (transaction, tenantId, subjectId) =>
    recordAct(transaction, actor, clock(), {
      tenantId,
      action: 'bonus_batch.delete_upload',
      subjectType: 'bonus_batch',
      subjectId,
    }),
  );
}

async function deleteFiles(
  database: Database,
  validatedBefore: Instant,
  record: (transaction: Transaction, tenantId: Uuid, batchId: Uuid) => Promise<void>,
): Promise<number> {
  for (let deleted = 0; ;) {
    const rows = await database.reader.query(
      `SELECT c.batch_id, b.tenant_id FROM upload_chunks c JOIN bonus_batches b ON b.id=c.batch_id
       WHERE c.number=0 AND b.validated_at<${time.literal(validatedBefore)} LIMIT ${FILES_AT_A_TIME}`,
    );
    for (const row of rows)
      await transact(database, async (transaction) => {
        const batchId = uuid.parse(row.batch_id);
        await transaction.execute(`DELETE FROM upload_chunks WHERE batch_id=${uuid.literal(batchId)}`);
        await record(transaction, uuid.parse(row.tenant_id), batchId);
      });
    deleted += rows.length;
    if (rows.length < FILES_AT_A_TIME) return deleted;
  }
}
