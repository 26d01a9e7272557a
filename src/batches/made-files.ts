import type { Uuid } from '../core/ids.js';
import type { Transaction } from '../db/database.js';
import { bonusBatchFiles, bonusBatchStorage } from '../db/entities/bonuses.js';
import { deleteSql, insertSql, updateSql } from '../db/statements.js';
import { type LastPieces, MakingSuperseded } from '../spreadsheets/stored-pieces.js';

/** Stores the files of a batch, in pieces. */

/** Files whose batch does not yet say that they exist. */
export interface MadeFiles extends LastPieces {
  readonly batchId: Uuid;
  /** Null if nothing of them is stored yet. */
  readonly run: number | null;
}

/** Stores the rest: from the commit on the files exist. Throws MakingSuperseded. */
export async function keepFiles(transaction: Transaction, made: MadeFiles): Promise<void> {
  const { batchId, csvBytes, xlsxBytes } = made;
  await storePieces(transaction, made);
  await transaction.execute(updateSql(bonusBatchStorage, { csvBytes, xlsxBytes }, { batchId }));
}

/** Storing the first pieces removes what earlier attempts left. Returns this attempt's number. */
export async function storePieces(
  transaction: Transaction,
  { batchId, run, rest }: Pick<MadeFiles, 'batchId' | 'run' | 'rest'>,
): Promise<number> {
  const storage = await transaction.find(bonusBatchStorage, { batchId }, { forUpdate: true });
  if (
    storage?.rowsRemovedAt !== null ||
    storage.csvBytes !== null ||
    (run !== null && storage.filesRun !== run)
  )
    throw new MakingSuperseded('another process makes these files, or they are no longer wanted');
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
