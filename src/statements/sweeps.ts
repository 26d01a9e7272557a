import { firstIdAt, type Uuid } from '../core/ids.js';
import { instant, type Instant } from '../core/instant.js';
import { time, uuid } from '../db/columns.js';
import type { Database, DatabaseDeps } from '../db/database.js';
import { statements } from '../db/entities/statements.js';
import { updateSql } from '../db/statements.js';
import { transact } from '../db/transact.js';
import { removePieces } from '../spreadsheets/generated-files.js';
import type { Sweep } from '../temporal/sweeper.js';
import { type Length, StatementMaker } from './statement-maker.js';

const MAKE_EVERY_MS = 500;
const REMOVE_EVERY_MS = 600_000;
const DAY_MS = 86_400_000;
const REMOVED_AT_ONCE = 20;

/** Makes statements in every worker process, because writing a file occupies a processor. */
export function statementsSweep(deps: DatabaseDeps, length: Length): Sweep {
  const maker = new StatementMaker(deps, length);
  return {
    name: `${length} statements`,
    everyMs: MAKE_EVERY_MS,
    inEach: true,
    run: (signal) => maker.makeNext(signal),
  };
}

/** Removes the files of statements made this many days ago, and keeps their figures. */
export function expiredStatementsSweep({ database, clock }: DatabaseDeps, keptDays: number): Sweep {
  return {
    name: 'expired statements',
    everyMs: REMOVE_EVERY_MS,
    run: async () =>
      (await removeOldFiles(database, instant(clock() - keptDays * DAY_MS), REMOVED_AT_ONCE)) ===
      REMOVED_AT_ONCE,
  };
}

/**
 * Removes the files of at most `limit` statements, and returns how many. An expired statement keeps
 * its lease until its files are removed, so an interrupted removal is continued.
 */
export async function removeOldFiles(
  database: Database,
  before: Instant,
  limit: number,
): Promise<number> {
  const old = await idsOf(
    database,
    `FORCE INDEX (status) WHERE status='ready' AND id<${uuid.literal(firstIdAt(before))} AND made_at<${time.literal(before)}`,
    limit,
  );
  const expired = {
    status: 'expired',
    csvBytes: null,
    xlsxBytes: null,
    leaseUntil: before,
  } as const;
  for (const id of old)
    await transact(database, (transaction) =>
      transaction.execute(updateSql(statements, expired, { id, status: 'ready' })),
    );
  for (const id of await idsOf(
    database,
    `FORCE INDEX (leased) WHERE status='expired' AND lease_until IS NOT NULL`,
    limit,
  )) {
    while (await transact(database, (transaction) => removePieces(transaction, id)));
    await transact(database, (transaction) =>
      transaction.execute(updateSql(statements, { leaseUntil: null }, { id, status: 'expired' })),
    );
  }
  return old.length;
}

async function idsOf(database: Database, where: string, limit: number): Promise<Uuid[]> {
  const rows = await database.reader.query(
    `SELECT id FROM statements ${where} ORDER BY id LIMIT ${limit}`,
  );
  return rows.map((row) => uuid.parse(row.id));
}
