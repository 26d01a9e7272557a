import type { StatementKind } from './metrics.js';
import { columnList, type SelectOptions, selectSql, type Where } from './statements.js';
import { parseRow, type Table } from './table.js';
import { TransactionRetryable } from './failures.js';
import type { LimitedTenant } from './connection-limit.js';
import { Batcher } from '../core/batcher.js';
import type { Uuid } from '../core/ids.js';
import type { Deadline } from '../core/timers.js';

export type StoredRow = Readonly<Record<string, unknown>>;

/** Runs statements: on a pooled connection, or in a transaction. */
export interface Reader {
  /** Runs statements that search many rows. Of one tenant's, at most two run at a time. */
  readonly searches: Reader;
  /** Key of the caches that the readers of all requests share. */
  readonly cacheKey: object;
  /** The rows of a SELECT. Throws DatabaseUnavailable. */
  query(sql: string): Promise<readonly StoredRow[]>;
  /** The table's rows. `clauses` follow its name in the SQL: an index, conditions, an order. */
  list<Row>(table: Table<Row>, clauses: string): Promise<Row[]>;
  select<Row>(table: Table<Row>, where: Where<Row>, options?: SelectOptions<Row>): Promise<Row[]>;
  find<Row>(
    table: Table<Row>,
    where: Where<Row>,
    options?: SelectOptions<Row>,
  ): Promise<Row | undefined>;
}

export interface Transaction extends Reader {
  /** Identifies the connection, which runs one transaction after another. */
  readonly connection: object;
  /** Runs a statement that writes. Returns the number of rows affected. */
  execute(sql: string): Promise<number>;
  /**
   * Sends several statements in one round trip and returns the rows of each. Nothing runs after a
   * failure. `lock`: the first statement waits for row locks.
   */
  all(
    statements: readonly string[],
    kind?: 'many' | 'lock',
  ): Promise<readonly (readonly StoredRow[])[]>;
  /** Runs a step between the last statement and COMMIT, to lock rows that must be locked last. */
  atEnd(step: () => Promise<void>): void;
  /**
   * Sends these statements in one text with COMMIT. They must not return rows, because one result
   * is counted for each: only if all have one, it was COMMIT itself that failed.
   */
  withCommit(statements: readonly string[]): void;
}

type Send = (sql: string, kind: StatementKind) => Promise<unknown>;

/** Runs after the work of a transaction: the steps in order, then the statements with COMMIT. */
export interface TransactionEnd {
  readonly finalSteps: (() => Promise<void>)[];
  readonly statements: string[];
}

/** `sendSearch` sends the statements of `searches`; by default they are sent like all others. */
export function readerOver(send: Send, sendSearch?: Send, cacheKey: object = {}): Reader {
  const query = async (sql: string): Promise<readonly StoredRow[]> => {
    const result = await send(sql, 'read');
    if (!Array.isArray(result)) throw new TypeError('the statement returned no rows');
    return result as readonly StoredRow[];
  };
  const parseRows = async <Row>(table: Table<Row>, sql: string): Promise<Row[]> =>
    (await query(sql)).map((row) => parseRow(table, row));
  const select: Reader['select'] = (table, where, options) =>
    parseRows(table, selectSql(table, where, options));
  const reader: Reader = {
    get searches() {
      return sendSearch === undefined ? reader : readerOver(sendSearch);
    },
    cacheKey,
    query,
    list: (table, clauses) =>
      parseRows(table, `SELECT ${columnList(table)} FROM ${table.name} ${clauses}`),
    select,
    find: async (table, where, options) => (await select(table, where, options))[0],
  };
  return reader;
}

function returnsRows(statement: string): boolean {
  return /^\s*SELECT\b/i.test(statement) && !/\bINTO\s+@/i.test(statement);
}

export function transactionOver(send: Send, end: TransactionEnd, connection: object): Transaction {
  return {
    connection,
    ...readerOver(send),
    execute: async (sql) => {
      const result = await send(sql, 'write');
      return typeof result === 'object' && result !== null && 'affectedRows' in result
        ? Number(result.affectedRows)
        : 0;
    },
    all: async (statements, kind = 'many') => {
      if (statements.length === 0) return [];
      const result = await send(statements.join(';'), kind);
      const results: unknown[] =
        statements.length === 1 ? [result] : Array.isArray(result) ? result : [];
      return results.map((one) => (Array.isArray(one) ? (one as StoredRow[]) : []));
    },
    atEnd: (step) => end.finalSteps.push(step),
    withCommit: (statements) => {
      if (statements.some(returnsRows))
        throw new TypeError('a statement that is sent with COMMIT must not return rows');
      end.statements.push(...statements);
    },
  };
}

const MAX_TRIES = 4;
const PAUSE_MS = 20;

/** The tenant whose share of the connections is used, and the deadline of its request. */
export interface StatementOwner {
  readonly tenantId: Uuid;
  readonly deadline?: Deadline | undefined;
}

type Work<T> = (transaction: Transaction) => Promise<T>;

interface Transactor {
  withTransaction<T>(work: Work<T>, deadline?: Deadline, tenant?: LimitedTenant): Promise<T>;
}

export function transact<T>(database: Transactor, work: Work<T>): Promise<T> {
  return transactFor(null, database, work);
}

/** Runs a transaction, with retries, until the deadline of its owner. Null: of no tenant. */
export async function transactFor<T>(
  owner: StatementOwner | null,
  database: Transactor,
  work: Work<T>,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await database.withTransaction(work, owner?.deadline, owner?.tenantId ?? null);
    } catch (failure) {
      if (!(failure instanceof TransactionRetryable) || tries === MAX_TRIES) throw failure;
      await new Promise((resolve) => setTimeout(resolve, Math.random() * PAUSE_MS * tries));
    }
  }
}

/** Bounds the length of one statement. */
const MAX_KEYS = 50;
const READS_AT_A_TIME = 2;

/** Reads the keys of simultaneous requests with one statement, without delay or cache. */
export function coalescedReads<Key, Found>(
  read: (keys: readonly Key[]) => Promise<(key: Key) => Found>,
): Batcher<Key, Found> {
  return new Batcher({ maxWeight: MAX_KEYS, concurrency: READS_AT_A_TIME }, async (keys) => {
    return keys.map(await read(keys));
  });
}

/** Returns a function that keeps one value for all readers with the same key. */
export function perReader<T>(make: () => T): (reader: Reader) => T {
  const all = new WeakMap<object, T>();
  return ({ cacheKey }) => {
    let own = all.get(cacheKey);
    if (own === undefined) all.set(cacheKey, (own = make()));
    return own;
  };
}
