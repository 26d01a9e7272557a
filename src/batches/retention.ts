import type { Instant } from '../core/instant.js';
import { time, uuid } from '../db/columns.js';
import type { Database } from '../db/database.js';
import { transact } from '../db/transact.js';

const FILES_AT_A_TIME = 100;

/**
 * Deletes the bytes of files that were validated before a moment; their hash stays on the batch. A file a transaction, so
 * it may be cut off anywhere and run twice. Answers how many files it deleted. Throws DatabaseUnavailable.
 */
export async function deleteUploadedBytes(database: Database, validatedBefore: Instant): Promise<number> {
  for (let deleted = 0; ;) {
    const rows = await database.reader.query(
      `SELECT c.batch_id FROM upload_chunks c JOIN bonus_batches b ON b.id=c.batch_id
       WHERE c.number=0 AND b.validated_at<${time.literal(validatedBefore)} LIMIT ${FILES_AT_A_TIME}`,
    );
    for (const row of rows)
      await transact(database, (transaction) =>
        transaction.execute(`DELETE FROM upload_chunks WHERE batch_id=${uuid.literal(uuid.parse(row.batch_id))}`),
      );
    deleted += rows.length;
    if (rows.length < FILES_AT_A_TIME) return deleted;
  }
}
