import { createHash } from 'node:crypto';
import { type Actor, recordAct } from '../../access/audit-log.js';
import { newId, type Uuid } from '../../core/ids.js';
import { instant, type Instant } from '../../core/instant.js';
import { day as dayColumn, time, uuid } from '../../db/columns.js';
import { Deadline } from '../../db/deadline.js';
import type { Database, Reader, Transaction } from '../../db/database.js';
import {
  type PayoutStatement,
  type PayoutStatementLine,
  payoutStatementLines,
  payoutStatements,
} from '../../db/entities/rail-statements.js';
import { DUPLICATE_KEY, errnoOf } from '../../db/failures.js';
import { columnList, insertSql, literal, literals, updateSql } from '../../db/statements.js';
import { parseRow } from '../../db/table.js';

/** Stores rails' statements. (docs/payouts.md) */

export const DAY_MS = 86_400_000;
const AT_ONCE = 900;
/** A large rail has some hundred thousand lines a day. */
const TAKING_MS = 120_000;

export type GivenLine = Omit<PayoutStatementLine, 'statementId' | 'rail'>;

export interface GivenStatement {
  readonly rail: string;
  readonly day: Instant;
  readonly lines: readonly GivenLine[];
}

/** `again`: the same lines had been imported before. */
export interface TakenStatement {
  readonly statement: PayoutStatement;
  readonly again: boolean;
}

/** A corrected one is a new version. Throws TransactionRetryable, DatabaseUnavailable, CommitUnknown. */
export async function takeStatement(
  database: Database,
  given: GivenStatement,
  actor: Actor,
  at: Instant,
): Promise<TakenStatement> {
  const work = (transaction: Transaction): Promise<TakenStatement> =>
    take(transaction, given, actor, at);
  try {
    return await database.withTransaction(work, Deadline.afterMs(TAKING_MS));
  } catch (failure) {
    if (errnoOf(failure) !== DUPLICATE_KEY) throw failure;
    // Somebody imported the same day at the same moment: it exists now.
    return database.withTransaction(work, Deadline.afterMs(TAKING_MS));
  }
}

async function take(
  transaction: Transaction,
  { rail, day, lines }: GivenStatement,
  actor: Actor,
  at: Instant,
): Promise<TakenStatement> {
  const digest = digestOf(lines);
  const own = { rail, day };
  const versions = await transaction.select(payoutStatements, own, {
    orderBy: ['version'],
    forUpdate: true,
  });
  const last = versions.at(-1);
  if (last?.digest.equals(digest) === true) {
    await transaction.execute(updateSql(payoutStatements, { seenAt: at }, { id: last.id }));
    return { statement: { ...last, seenAt: at }, again: true };
  }
  const version = (last?.version ?? 0) + 1;
  const taken = { takenAt: at, takenBy: actor.name, seenAt: at };
  const statement: PayoutStatement = {
    id: newId(),
    ...own,
    version,
    lineCount: lines.length,
    digest,
    ...taken,
  };
  await transaction.execute(insertSql(payoutStatements, [statement]));
  const rows = lines.map((line) => ({ ...line, statementId: statement.id, rail }));
  for (const slice of slices(rows))
    await transaction.execute(insertSql(payoutStatementLines, slice));
  if (last !== undefined) await transaction.execute(supersedeSql(last.id));
  await recordAct(transaction, actor, at, {
    tenantId: null,
    action: 'payout.statement_take',
    subjectType: 'rail',
    subjectId: rail,
    details: { day: shownDay(day), version, lines: lines.length },
  });
  return { statement, again: false };
}

function supersedeSql(statementId: Uuid): string {
  return `INSERT INTO payout_superseded_lines (statement_id, number, rail, payout_key)
    SELECT statement_id, number, rail, payout_key FROM payout_statement_lines WHERE statement_id=${uuid.literal(statementId)}`;
}

function digestOf(lines: readonly GivenLine[]): Buffer {
  const hash = createHash('sha256');
  for (const { number, payoutKey, status, raw, asset, reference, at } of lines)
    hash.update(
      `${JSON.stringify([number, payoutKey, status, raw.toString(), asset, reference, at])}\n`,
    );
  return hash.digest();
}

export interface DatedLine extends PayoutStatementLine {
  readonly day: Instant;
}

/** What all current statements say about these payments of a rail. */
export async function linesOf(
  reader: Reader,
  rail: string,
  keys: Iterable<Uuid>,
): Promise<readonly DatedLine[]> {
  const found: DatedLine[] = [];
  for (const slice of slices([...new Set(keys)])) {
    const rows = await reader.query(
      `SELECT ${columnList(payoutStatementLines, 'l')}, s.day AS day
       FROM payout_statement_lines l JOIN payout_statements s ON s.id=l.statement_id
       WHERE l.rail=${literal(payoutStatementLines, 'rail', rail)}
         AND l.payout_key IN (${literals(payoutStatementLines, 'payoutKey', slice)})
         AND NOT EXISTS (SELECT 1 FROM payout_statements n WHERE n.rail=s.rail AND n.day=s.day AND n.version>s.version)`,
    );
    for (const row of rows)
      found.push({ ...parseRow(payoutStatementLines, row), day: dayColumn.parse(row.day) });
  }
  return found;
}

/** The payments for which an earlier version of the statement had a line. */
export async function onceNamed(
  reader: Reader,
  { rail, day, version }: PayoutStatement,
): Promise<readonly Uuid[]> {
  const rows = await reader.query(
    `SELECT DISTINCT l.payout_key AS payout_key
     FROM payout_statement_lines l JOIN payout_statements s ON s.id=l.statement_id
     WHERE s.rail=${literal(payoutStatements, 'rail', rail)} AND s.day=${literal(payoutStatements, 'day', day)}
       AND s.version<${literal(payoutStatements, 'version', version)}`,
  );
  return rows.map((row) => uuid.parse(row.payout_key));
}

/** For each day with a statement, the moment up to which it covers the day. */
export async function toldDays(
  reader: Reader,
  rail: string,
): Promise<ReadonlyMap<Instant, Instant>> {
  const rows = await reader.query(
    `SELECT day, MAX(seen_at) AS seen_at FROM payout_statements
     WHERE rail=${literal(payoutStatements, 'rail', rail)} GROUP BY day`,
  );
  return new Map(
    rows.map((row) => {
      const day = dayColumn.parse(row.day);
      return [day, instant(Math.min(day + DAY_MS, time.parse(row.seen_at)))];
    }),
  );
}

export function shownDay(day: Instant): string {
  return new Date(day).toISOString().slice(0, 10);
}

export function* slices<T>(all: readonly T[]): Generator<readonly T[]> {
  for (let at = 0; at < all.length; at += AT_ONCE) yield all.slice(at, at + AT_ONCE);
}
