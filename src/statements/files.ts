import { createReadStream } from 'node:fs';
import type { Clock } from '../core/instant.js';
import { instant } from '../core/instant.js';
import type { Uuid } from '../core/ids.js';
import { uuid } from '../db/columns.js';
import type { Database, Transaction } from '../db/database.js';
import { type Statement, type StatementFile, statementFiles, statements } from '../db/entities/statements.js';
import { insertSql, updateSql } from '../db/statements.js';
import { transact } from '../db/transact.js';
import { MakingSuperseded, PIECE_BYTES, PIECES_A_TRANSACTION } from '../batches/files/stored-pieces.js';
import type { TablePaths } from '../batches/files/writing/table.js';

/** Where the files of statements are kept: in pieces, as those of batches are. (docs/decisions/0030-files-of-a-batch-are-made-once.md) */

const PIECES_A_DELETE = 256;

/** Takes the making of its files for so long, and what an earlier one left away. Null: another process was first. */
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
    const set = { filesRun: statement.filesRun + 1, leaseUntil: instant(now + leaseMsOf(statement)) };
    await transaction.execute(updateSql(statements, set, { id }));
    return { ...statement, ...set };
  });
  // The earlier making is shut out by now.
  if (claimed !== null) await removePieces(database, id);
  return claimed;
}

/** Gives the making back: another process may begin at once. */
export async function releaseStatement(database: Database, { id, filesRun }: Statement): Promise<void> {
  await transact(database, (transaction) =>
    transaction.execute(updateSql(statements, { leaseUntil: null }, { id, filesRun })),
  );
}

/** Stores both files, a megabyte a transaction; with the last the statement is ready. Throws MakingSuperseded. */
export async function storeFiles(
  database: Database,
  clock: Clock,
  { id, filesRun }: Statement,
  paths: TablePaths,
  movementCount: number,
  signal: AbortSignal,
): Promise<void> {
  let rest: StatementFile[] = [];
  const bytes = { csv: 0, xlsx: 0 };
  for (const format of ['csv', 'xlsx'] as const) {
    let number = 0;
    const pieces: AsyncIterable<Buffer> = createReadStream(paths[format], { highWaterMark: PIECE_BYTES, signal });
    for await (const content of pieces) {
      bytes[format] += content.length;
      rest.push({ statementId: id, format, number, content });
      number += 1;
      if (rest.length < PIECES_A_TRANSACTION) continue;
      const full = rest;
      await transact(database, (transaction) => storePieces(transaction, id, filesRun, full));
      rest = [];
    }
  }
  await transact(database, async (transaction) => {
    await storePieces(transaction, id, filesRun, rest);
    const made = { status: 'ready', madeAt: clock(), leaseUntil: null, movementCount } as const;
    await transaction.execute(updateSql(statements, { ...made, csvBytes: bytes.csv, xlsxBytes: bytes.xlsx }, { id }));
  });
}

async function storePieces(
  transaction: Transaction,
  id: Uuid,
  run: number,
  pieces: readonly StatementFile[],
): Promise<void> {
  const statement = await transaction.find(statements, { id }, { forUpdate: true });
  if (statement?.status !== 'preparing' || statement.filesRun !== run)
    throw new MakingSuperseded('another process makes these files');
  if (pieces.length > 0) await transaction.execute(insertSql(statementFiles, pieces));
}

/** Once nobody writes or reads them any more. A few at a time: a group of servers takes no transaction of 150 MB. */
export async function removePieces(database: Database, id: Uuid): Promise<void> {
  const some = `DELETE FROM statement_files WHERE statement_id=${uuid.literal(id)} ORDER BY format, number LIMIT ${PIECES_A_DELETE}`;
  while ((await transact(database, (transaction) => transaction.execute(some))) === PIECES_A_DELETE);
}
