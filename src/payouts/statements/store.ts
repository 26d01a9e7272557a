import { createHash } from 'node:crypto';
import { type Actor, recordAction } from '../../access/audit-log.js';
import { newId, type Uuid } from '../../core/ids.js';
import { instant, type Instant } from '../../core/instant.js';
import { day as dayColumn, time, uuid } from '../../db/columns.js';
import { Deadline } from '../../core/timers.js';
import type { Database, Reader, Transaction } from '../../db/database.js';
import {
  type PayoutStatement,
  type PayoutStatementLine,
  payoutStatementLines,
  payoutStatements,
} from '../../db/entities/rails.js';
import { isDuplicateKey } from '../../db/failures.js';
import { columnList, insertSql, literal, literals, updateSql } from '../../db/statements.js';
import { parseRow } from '../../db/table.js';

export const DAY_MS = 86_400_000;
/** Lines or ids in one SQL statement. */
const SLICE_LENGTH = 900;
/** A large rail has some hundred thousand lines a day. */
const STORING_MS = 120_000;

export type LineInput = Omit<PayoutStatementLine, 'statementId' | 'rail'>;

export interface StatementInput {
  readonly rail: string;
  readonly day: Instant;
  readonly lines: readonly LineInput[];
}

export interface StoredStatement {
  readonly statement: PayoutStatement;
  /** True if the newest version of the day has the same lines. */
  readonly isUnchanged: boolean;
}

/** Stores a statement, a corrected one as a new version. Throws as `withTransaction` does. */
export async function storeStatement(
  database: Database,
  input: StatementInput,
  actor: Actor,
  at: Instant,
): Promise<StoredStatement> {
  const work = (transaction: Transaction): Promise<StoredStatement> =>
    store(transaction, input, actor, at);
  try {
    return await database.withTransaction(work, Deadline.afterMs(STORING_MS));
  } catch (failure) {
    if (!isDuplicateKey(failure)) throw failure;
    // Another process stored a statement of the day at the same time.
    return database.withTransaction(work, Deadline.afterMs(STORING_MS));
  }
}

async function store(
  transaction: Transaction,
  { rail, day, lines }: StatementInput,
  actor: Actor,
  at: Instant,
): Promise<StoredStatement> {
  const digest = digestOf(lines);
  const ordered = { orderBy: ['version'], forUpdate: true } as const;
  const last = (await transaction.select(payoutStatements, { rail, day }, ordered)).at(-1);
  if (last?.digest.equals(digest) === true) {
    await transaction.execute(updateSql(payoutStatements, { lastLoadedAt: at }, { id: last.id }));
    return { statement: { ...last, lastLoadedAt: at }, isUnchanged: true };
  }
  const [id, version] = [newId(), (last?.version ?? 0) + 1];
  const source = { storedAt: at, storedBy: actor.name, lastLoadedAt: at };
  const content = { version, lineCount: lines.length, digest };
  const statement: PayoutStatement = { id, rail, day, ...content, ...source };
  await transaction.execute(insertSql(payoutStatements, [statement]));
  for (const slice of slices(lines.map((line) => ({ ...line, statementId: id, rail }))))
    await transaction.execute(insertSql(payoutStatementLines, slice));
  if (last !== undefined) await transaction.execute(supersedeSql(last.id));
  await recordAction(transaction, actor, at, {
    tenantId: null,
    action: 'payout.statement_take',
    subjectType: 'rail',
    subjectId: rail,
    details: { day: dayText(day), version, lines: lines.length },
  });
  return { statement, isUnchanged: false };
}

function supersedeSql(statementId: Uuid): string {
  return `INSERT INTO payout_superseded_lines (statement_id, number, rail, payout_key)
    SELECT statement_id, number, rail, payout_key FROM payout_statement_lines WHERE statement_id=${uuid.literal(statementId)}`;
}

function digestOf(lines: readonly LineInput[]): Buffer {
  const hash = createHash('sha256');
  for (const { number, payoutKey, status, raw, asset, reference, at } of lines) {
    const content = [number, payoutKey, status, raw.toString(), asset, reference, at];
    hash.update(`${JSON.stringify(content)}\n`);
  }
  return hash.digest();
}

export interface DatedLine extends PayoutStatementLine {
  readonly day: Instant;
}

/** Returns the lines about these payments of a rail in the newest statement of each day. */
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
         AND NOT EXISTS (SELECT 1 FROM payout_statements newer WHERE newer.rail=s.rail AND newer.day=s.day AND newer.version>s.version)`,
    );
    for (const row of rows)
      found.push({ ...parseRow(payoutStatementLines, row), day: dayColumn.parse(row.day) });
  }
  return found;
}

export async function keysOfEarlierVersions(
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

/** Returns up to which instant each day's loaded statement can list outcomes. */
export async function coveredDays(
  reader: Reader,
  rail: string,
): Promise<ReadonlyMap<Instant, Instant>> {
  const rows = await reader.query(
    `SELECT day, MAX(last_loaded_at) AS last_loaded_at FROM payout_statements
     WHERE rail=${literal(payoutStatements, 'rail', rail)} GROUP BY day`,
  );
  const days = rows.map((row) => ({
    day: dayColumn.parse(row.day),
    lastLoaded: time.parse(row.last_loaded_at),
  }));
  return new Map(
    days.map(({ day, lastLoaded }) => [day, instant(Math.min(day + DAY_MS, lastLoaded))]),
  );
}

export function dayText(day: Instant): string {
  return new Date(day).toISOString().slice(0, 10);
}

export function* slices<T>(all: readonly T[]): Generator<readonly T[]> {
  for (let at = 0; at < all.length; at += SLICE_LENGTH) yield all.slice(at, at + SLICE_LENGTH);
}
