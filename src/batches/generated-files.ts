import type { Uuid } from '../core/ids.js';
import type { Transaction } from '../db/database.js';
import { bonusBatchFiles, bonusBatchStorage } from '../db/entities/bonuses.js';
import { deleteSql, insertSql, updateSql } from '../db/statements.js';
import { type LastPieces, GenerationSuperseded } from '../spreadsheets/stored-files.js';

/** Generated files that the batch does not refer to yet. */
export interface GeneratedFiles extends LastPieces {
  readonly batchId: Uuid;
  /** Number of the attempt that stored pieces. Null if no piece is stored yet. */
  readonly run: number | null;
}

/**
 * Stores the remaining pieces and the sizes. The files exist from the commit on. Throws
 * `GenerationSuperseded`.
 */
export async function completeFiles(transaction: Transaction, made: GeneratedFiles): Promise<void> {
  const { batchId, csvBytes, xlsxBytes } = made;
  await storePieces(transaction, made);
  await transaction.execute(updateSql(bonusBatchStorage, { csvBytes, xlsxBytes }, { batchId }));
}

/**
 * Stores pieces and returns the number of the attempt. The first pieces of an attempt replace the
 * pieces of earlier attempts.
 */
export async function storePieces(
  transaction: Transaction,
  { batchId, run, rest }: Pick<GeneratedFiles, 'batchId' | 'run' | 'rest'>,
): Promise<number> {
  const storage = await transaction.find(bonusBatchStorage, { batchId }, { forUpdate: true });
  if (
    storage?.rowsRemovedAt !== null ||
    storage.csvBytes !== null ||
    (run !== null && storage.filesRun !== run)
  )
    throw new GenerationSuperseded(
      'another process makes these files, or they are no longer wanted',
    );
  const filesRun = run ?? storage.filesRun + 1;
  if (run === null) {
    await transaction.execute(deleteSql(bonusBatchFiles, { batchId }));
    await transaction.execute(updateSql(bonusBatchStorage, { filesRun }, { batchId }));
  }
  if (rest.length > 0) {
    const rows = rest.map((piece) => ({ batchId, ...piece }));
    await transaction.execute(insertSql(bonusBatchFiles, rows));
  }
  return filesRun;
}
