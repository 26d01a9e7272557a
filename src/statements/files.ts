import type { Clock } from '../core/instant.js';
import { instant } from '../core/instant.js';
import type { Uuid } from '../core/ids.js';
import { uuid } from '../db/columns.js';
import type { Database, Transaction } from '../db/database.js';
import { type Statement, statementFiles, statements } from '../db/entities/statements.js';
import { insertSql, updateSql } from '../db/statements.js';
import { transact } from '../db/transact.js';
import { GenerationSuperseded, type Piece, storeInPieces } from '../spreadsheets/stored-files.js';
import type { TablePaths } from '../spreadsheets/writing/table-files.js';

/**
 * Stores the files of statements in pieces, as for batches.
 * (docs/decisions/0030-files-of-a-batch-are-made-once.md)
 */

const PIECES_A_DELETE = 256;

/**
 * Claims the making for the length of a lease, and removes the pieces of an earlier attempt.
 * Returns null if another process was first.
 */
export async function claimStatement(
  database: Database,
  clock: Clock,
  id: Uuid,
  leaseMsOf: (statement: Statement) => number,
): Promise<Statement | null> {
  const claimed = await transact(database, async (transaction) => {
    const statement = await transaction.find(statements, { id }, { forUpdate: true });
    const now = clock();
    if (statement?.status !== 'preparing' || (statement.leaseUntil ?? 0) > now) return null;
    const set = {
      filesRun: statement.filesRun + 1,
      leaseUntil: instant(now + leaseMsOf(statement)),
    };
    await transaction.execute(updateSql(statements, set, { id }));
    return { ...statement, ...set };
  });
  if (claimed === null) return null;
  // The earlier attempt can no longer store pieces, and neither can this one if the removal
  // outlasts its lease.
  const isOurs = await removePieces(database, id, (row) => isMadeBy(row, claimed.filesRun));
  return isOurs ? claimed : null;
}

function isMadeBy({ status, filesRun }: Statement, run: number): boolean {
  return status === 'preparing' && filesRun === run;
}

/** Releases the claim, so that another process may begin at once. */
export async function releaseStatement(
  database: Database,
  { id, filesRun }: Statement,
): Promise<void> {
  await transact(database, (transaction) =>
    transaction.execute(updateSql(statements, { leaseUntil: null }, { id, filesRun })),
  );
}

/**
 * Stores both files, a megabyte per transaction; the statement is ready with the last one. Throws
 * GenerationSuperseded.
 */
export async function storeFiles(
  database: Database,
  clock: Clock,
  { id, filesRun }: Statement,
  paths: TablePaths,
  movementCount: number,
  signal: AbortSignal,
): Promise<void> {
  const { rest, csvBytes, xlsxBytes } = await storeInPieces(paths, signal, (pieces) =>
    transact(database, (transaction) => storePieces(transaction, id, filesRun, pieces)),
  );
  await transact(database, async (transaction) => {
    await storePieces(transaction, id, filesRun, rest);
    const made = {
      status: 'ready',
      madeAt: clock(),
      leaseUntil: null,
      movementCount,
      csvBytes,
      xlsxBytes,
    } as const;
    await transaction.execute(updateSql(statements, made, { id }));
  });
}

async function storePieces(
  transaction: Transaction,
  id: Uuid,
  run: number,
  pieces: readonly Piece[],
): Promise<void> {
  const statement = await transaction.find(statements, { id }, { forUpdate: true });
  if (statement === undefined || !isMadeBy(statement, run))
    throw new GenerationSuperseded('another process makes these files');
  if (pieces.length === 0) return;
  const rows = pieces.map((piece) => ({ statementId: id, ...piece }));
  await transaction.execute(insertSql(statementFiles, rows));
}

/**
 * Removes pieces, a few at a time, each time after a check under the row's lock. Returns true if
 * all are removed.
 */
export async function removePieces(
  database: Database,
  id: Uuid,
  may: (statement: Statement) => boolean,
): Promise<boolean> {
  const some = `DELETE FROM statement_files WHERE statement_id=${uuid.literal(id)} ORDER BY format, number LIMIT ${PIECES_A_DELETE}`;
  for (let removed = PIECES_A_DELETE; removed === PIECES_A_DELETE;) {
    const now = await transact(database, async (transaction) => {
      const statement = await transaction.find(statements, { id }, { forUpdate: true });
      return statement !== undefined && may(statement) ? transaction.execute(some) : null;
    });
    if (now === null) return false;
    removed = now;
  }
  return true;
}
