import { createPool, type Pool, type PoolConnection } from 'mysql2';
import { Deadline } from './deadline.js';
import {
  CommitUnknown,
  DatabaseUnavailable,
  isDataFault,
  isRetryable,
  isUnavailable,
  TransactionRetryable,
} from './failures.js';
import { parseRow, type Table } from './table.js';
import { selectSql, type SelectOptions, type Where } from './statements.js';

export type StoredRow = Readonly<Record<string, unknown>>;

/** Something that answers statements: a pooled connection, or a transaction. */
export interface Reader {
  /** The rows of a SELECT. Throws DatabaseUnavailable when MySQL is not there. */
  query(sql: string): Promise<readonly StoredRow[]>;
  select<Row>(table: Table<Row>, where: Where<Row>, options?: SelectOptions<Row>): Promise<Row[]>;
  /** The first row, or undefined. */
  find<Row>(table: Table<Row>, where: Where<Row>, options?: SelectOptions<Row>): Promise<Row | undefined>;
}

export interface Transaction extends Reader {
  /** A statement that writes. Answers the number of rows it touched. */
  execute(sql: string): Promise<number>;
  /**
   * Several statements in one round trip; for each the rows it answered (none for a write). The server stops at the
   * first that fails, so nothing runs behind a failure.
   */
  all(statements: readonly string[]): Promise<readonly (readonly StoredRow[])[]>;
  /** Has this done between the last statement of the work and the COMMIT: it locks what must be locked last. */
  atEnd(last: () => Promise<void>): void;
  /** Has these sent in one text with COMMIT, which the server does not reach when one of them fails. */
  withCommit(statements: readonly string[]): void;
}

export interface DatabaseOptions {
  readonly url: string;
  readonly readConnections: number;
  readonly transactionConnections: number;
  /** How long a statement outside a posting may take, connecting included. */
  readonly statementTimeoutMs: number;
}

const CONNECT_TIMEOUT_MS = 2_000;
const LOCK_WAIT_S = 1;
/** A process that is stopped in the middle of a transaction must not hold its locks for hours. */
const IDLE_TRANSACTION_S = 30;
const LOOKUP_CONNECTIONS = 4;

/** Set once for each connection. */
const SESSION = [
  'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED',
  `SET SESSION innodb_lock_wait_timeout=${LOCK_WAIT_S}, time_zone='+00:00', ` +
    `sql_mode='STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ZERO_DATE,NO_ZERO_IN_DATE,NO_ENGINE_SUBSTITUTION'`,
];

/**
 * The connections to MySQL. Nothing connects before it is needed, so the process starts and answers (503) while MySQL is
 * away. Reads and transactions have pools of their own: a transaction's connection has autocommit off, so that a
 * statement which was queued behind one that ended the transaction (1213) cannot commit by itself.
 */
export class Database {
  private readonly reads: Pool;
  private readonly lookups: Pool;
  private readonly transactions: Pool;
  private readonly statementTimeoutMs: number;

  constructor(options: DatabaseOptions) {
    this.statementTimeoutMs = options.statementTimeoutMs;
    const endsAfter = statementLimit(options.statementTimeoutMs);
    const reading = { multipleStatements: false, session: `SET SESSION autocommit=1, ${endsAfter}` };
    this.reads = openPool(options.url, options.readConnections, reading);
    this.lookups = openPool(options.url, LOOKUP_CONNECTIONS, reading);
    this.transactions = openPool(options.url, options.transactionConnections, {
      multipleStatements: true,
      session: `SET SESSION autocommit=0, wait_timeout=${IDLE_TRANSACTION_S}`,
    });
  }

  /** Statements outside a transaction, each on its own. */
  readonly reader: Reader = readerOver((sql) => this.read(this.reads, sql));

  /** The same for the short look-ups that every request needs (tokens, keys): long lists cannot take their connections. */
  readonly lookup: Reader = readerOver((sql) => this.read(this.lookups, sql));

  private async read(pool: Pool, sql: string): Promise<unknown> {
    const deadline = Deadline.afterMs(this.statementTimeoutMs);
    try {
      return await this.readOnce(pool, sql, deadline);
    } catch (error) {
      // A connection that waited in the pool may have died there: one more is tried.
      if (!(error instanceof DatabaseUnavailable) || deadline.passed()) throw error;
      return this.readOnce(pool, sql, deadline);
    }
  }

  private async readOnce(pool: Pool, sql: string, deadline: Deadline): Promise<unknown> {
    const connection = await acquire(pool, deadline);
    try {
      const answer = await send(connection, sql, deadline);
      connection.release();
      return answer;
    } catch (error) {
      return giveUp(connection, error);
    }
  }

  /**
   * Runs `work` in a transaction and commits it. Every statement of `work` must have been awaited when it returns, and COMMIT is
   * sent only when all of them were answered; those that go with it are told apart from it by what they can fail of.
   * Throws TransactionRetryable (nothing happened, another try may succeed), DatabaseUnavailable (nothing happened),
   * CommitUnknown (it happened or not), or what `work` threw after the rollback.
   */
  async withTransaction<T>(
    work: (transaction: Transaction) => Promise<T>,
    deadline = Deadline.afterMs(this.statementTimeoutMs),
    beforeCommit: () => void = () => undefined,
  ): Promise<T> {
    const connection = await acquire(this.transactions, deadline);
    const ending: Ending = { lasts: [], statements: [] };
    let result: T;
    try {
      result = await work(transactionOver((sql) => send(connection, sql, deadline), ending));
      for (const last of ending.lasts) await last();
      beforeCommit();
    } catch (error) {
      return this.rollBack(connection, error);
    }
    try {
      await send(connection, [...ending.statements, 'COMMIT'].join(';'), deadline);
    } catch (error) {
      // COMMIT itself never fails of what a statement holds. Any other error may be its own.
      const isBeforeIt = ending.statements.length > 0 && isDataFault(error);
      if (isRetryable(error) || isBeforeIt) return this.rollBack(connection, error);
      connection.destroy();
      throw new CommitUnknown('the answer to COMMIT did not come', { cause: error });
    }
    connection.release();
    return result;
  }

  /** A read-only view of one moment, for work that compares tables with one another. Never blocks a writer. */
  async withSnapshot<T>(work: (reader: Reader) => Promise<T>, timeoutMs: number): Promise<T> {
    const deadline = Deadline.afterMs(timeoutMs);
    const connection = await acquire(this.transactions, deadline);
    try {
      await send(connection, 'SET TRANSACTION ISOLATION LEVEL REPEATABLE READ', deadline);
      await send(connection, 'START TRANSACTION WITH CONSISTENT SNAPSHOT', deadline);
      const result = await work(readerOver((sql) => send(connection, sql, deadline)));
      await send(connection, 'ROLLBACK', deadline);
      connection.release();
      return result;
    } catch (error) {
      return this.rollBack(connection, error);
    }
  }

  private async rollBack(connection: PoolConnection, error: unknown): Promise<never> {
    if (isUnavailable(error) && !isRetryable(error)) return giveUp(connection, error);
    try {
      await send(connection, 'ROLLBACK', Deadline.afterMs(CONNECT_TIMEOUT_MS));
      connection.release();
    } catch {
      connection.destroy();
    }
    if (isRetryable(error)) throw new TransactionRetryable('the transaction was rolled back', { cause: error });
    throw error;
  }

  async close(): Promise<void> {
    await Promise.all(
      [this.reads, this.lookups, this.transactions].map((pool) => new Promise((done) => pool.end(done))),
    );
  }
}

/** Ends a SELECT at the server, which goes on with it when only its connection is closed. MariaDB and MySQL name it apart. */
function statementLimit(timeoutMs: number): string {
  return `/*M!100101 max_statement_time=${timeoutMs / 1000}, */ /*!50708 max_execution_time=${timeoutMs}, */ wait_timeout=3600`;
}

interface PoolMode {
  /** A group's statements share round trips: measured, docs/decisions/0002-group-commit.md. */
  readonly multipleStatements: boolean;
  readonly session: string;
}

function openPool(url: string, connectionLimit: number, mode: PoolMode): Pool {
  const pool = createPool({
    uri: url,
    connectionLimit,
    connectTimeout: CONNECT_TIMEOUT_MS,
    enableKeepAlive: true,
    charset: 'utf8mb4_bin',
    timezone: 'Z',
    dateStrings: true,
    supportBigNumbers: true,
    bigNumberStrings: true,
    multipleStatements: mode.multipleStatements,
  });
  pool.on('connection', (connection) => {
    // Each statement hears of a broken connection by itself; an event that nobody hears would end the process.
    connection.on('error', () => undefined);
    for (const statement of [...SESSION, mode.session])
      connection.query(statement, (error) => {
        // A session that is not set up as we need it must not be used.
        if (error) connection.destroy();
      });
  });
  return pool;
}

function acquire(pool: Pool, deadline: Deadline): Promise<PoolConnection> {
  return new Promise((resolve, reject) => {
    let waiting = true;
    const timer = setTimeout(() => {
      waiting = false;
      reject(new DatabaseUnavailable('no connection to MySQL became free in time'));
    }, deadline.leftMs());
    pool.getConnection((error, connection) => {
      clearTimeout(timer);
      if (error) reject(new DatabaseUnavailable('MySQL refused a connection', { cause: error }));
      else if (waiting) resolve(connection);
      else connection.release();
    });
  });
}

/**
 * The timer is ours: the driver's begins only when a statement is sent, so one that is queued behind a statement that
 * never ends would wait for ever.
 */
function send(connection: PoolConnection, sql: string, deadline: Deadline): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const timeoutMs = deadline.leftMs();
    if (timeoutMs === 0) return reject(new DatabaseUnavailable('no time was left for a statement'));
    const timer = setTimeout(() => reject(new DatabaseUnavailable('MySQL did not answer in time')), timeoutMs);
    // No values: the driver then neither searches the text for places to fill nor could fill one.
    connection.query({ sql, values: null }, (error, answer) => {
      clearTimeout(timer);
      if (error) reject(error);
      else resolve(answer);
    });
  });
}

/** A timed-out statement may still be running, so its connection is never used again. */
function giveUp(connection: PoolConnection, error: unknown): never {
  if (!isUnavailable(error)) {
    connection.release();
    throw error;
  }
  connection.destroy();
  throw error instanceof DatabaseUnavailable ? error : new DatabaseUnavailable('MySQL went away', { cause: error });
}

type Send = (sql: string) => Promise<unknown>;

/** What a transaction ends with, in this order. */
interface Ending {
  readonly lasts: (() => Promise<void>)[];
  readonly statements: string[];
}

function readerOver(sendSql: Send): Reader {
  const query = async (sql: string): Promise<readonly StoredRow[]> => {
    const answer = await sendSql(sql);
    if (!Array.isArray(answer)) throw new TypeError('the statement answered no rows');
    return answer as readonly StoredRow[];
  };
  const select: Reader['select'] = async (table, where, options) =>
    (await query(selectSql(table, where, options))).map((row) => parseRow(table, row));
  return { query, select, find: async (table, where, options) => (await select(table, where, options))[0] };
}

function transactionOver(sendSql: Send, ending: Ending): Transaction {
  return {
    ...readerOver(sendSql),
    execute: async (sql) => {
      const answer = await sendSql(sql);
      return typeof answer === 'object' && answer !== null && 'affectedRows' in answer
        ? Number(answer.affectedRows)
        : 0;
    },
    all: async (statements) => {
      if (statements.length === 0) return [];
      const answer = await sendSql(statements.join(';'));
      const answers: unknown[] = statements.length === 1 ? [answer] : Array.isArray(answer) ? answer : [];
      return answers.map((one) => (Array.isArray(one) ? (one as StoredRow[]) : []));
    },
    atEnd: (last) => ending.lasts.push(last),
    withCommit: (statements) => ending.statements.push(...statements),
  };
}
