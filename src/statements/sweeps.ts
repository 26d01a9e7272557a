import { firstIdAt } from '../core/ids.js';
import { instant, type Instant } from '../core/instant.js';
import { time, uuid } from '../db/columns.js';
import type { Database } from '../db/database.js';
import { Deadline } from '../db/deadline.js';
import { statements } from '../db/entities/statements.js';
import { updateSql } from '../db/statements.js';
import type { Sweep } from '../temporal/sweeper.js';
import { removePieces } from './files.js';
import { type Length, type MakerParts, StatementMaker } from './making.js';

const MAKE_EVERY_MS = 500;
const REMOVE_EVERY_MS = 600_000;
const DAY_MS = 86_400_000;
const REMOVED_AT_ONCE = 20;
/** The longest statement has some two thousand pieces. */
const MAX_REMOVAL_MS = 120_000;

/** The files of statements that wait for them. */
export function statementsSweep(parts: MakerParts, length: Length): Sweep {
  const maker = new StatementMaker(parts, length);
  return { name: `${length} statements`, everyMs: MAKE_EVERY_MS, run: (signal) => maker.makeNext(signal) };
}

/** The files of statements that were made so many days ago; what a statement says stays. */
export function expiredStatementsSweep({ database, clock }: MakerParts, keptDays: number): Sweep {
  return {
    name: 'expired statements',
    everyMs: REMOVE_EVERY_MS,
    run: async () =>
      (await removeOldFiles(database, instant(clock() - keptDays * DAY_MS), REMOVED_AT_ONCE)) === REMOVED_AT_ONCE,
  };
}

/** Removes the files of at most so many statements that were made before a moment; answers of how many. */
export async function removeOldFiles(database: Database, before: Instant, limit: number): Promise<number> {
  const rows = await database.reader.query(
    `SELECT id FROM statements FORCE INDEX (status) WHERE status='ready' AND id<${uuid.literal(firstIdAt(before))}
       AND made_at<${time.literal(before)} ORDER BY id LIMIT ${limit}`,
  );
  for (const row of rows)
    await database.withTransaction(async (transaction) => {
      const id = uuid.parse(row.id);
      const statement = await transaction.find(statements, { id }, { forUpdate: true });
      if (statement?.status !== 'ready') return;
      await removePieces(transaction, id);
      await transaction.execute(updateSql(statements, { status: 'expired', csvBytes: null, xlsxBytes: null }, { id }));
    }, Deadline.afterMs(MAX_REMOVAL_MS));
  return rows.length;
}
