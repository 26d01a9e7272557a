import type { Clock } from '../core/instant.js';
import type { PoolConnection } from 'mysql2';
import {
  Connections,
  LOCK_WAIT_MS,
  poolSettings,
  type PoolName,
  type PoolUse,
  send,
} from './connections.js';
import { Deadline } from '../core/timers.js';
import {
  CommitUnknown,
  DatabaseUnavailable,
  errnoOf,
  isNoPrimary,
  isRetryable,
  isUnavailable,
  isUncommitted,
  TransactionRetryable,
} from './failures.js';
import { type StatementKind, type StatementObserver, NO_OBSERVER } from './metrics.js';
import { ConnectionLimit, type ConnectionShare, type LimitedTenant } from './connection-limit.js';
import { NoPrimary, Primary, type PrimaryObserver } from './primary.js';
import {
  type TransactionEnd,
  type Reader,
  readerOver,
  type StatementOwner,
  type Transaction,
  transactionOver,
} from './reader.js';
import { IDENTITY_SQL, identityOf, acceptsWrites } from './server-state.js';
import { mysqlAddress, MysqlTls, type TlsMaterial } from './servers.js';

export type { Reader, StoredRow, Transaction } from './reader.js';

interface DatabaseOptions {
  /** `mysql://user:password@host:port,host:port/database`: every server of the group. */
  readonly url: string;
  readonly tls?: TlsMaterial | null | undefined;
  readonly observer?: PrimaryObserver;
  readonly statementObserver?: StatementObserver;
  readonly readConnections: number;
  readonly transactionConnections: number;
  /** Connections of `transactionConnections` reserved for postings; 0 by default. */
  readonly postingConnections?: number;
  /** Time limit of a statement outside a posting, including connecting. */
  readonly statementTimeoutMs: number;
}

const ROLLBACK_MS = 2_000;
const SEARCHES_PER_TENANT = 2;
/** Least number of connections for transactions other than postings. */
const MIN_OTHER_TRANSACTIONS = 2;

export interface DatabaseDeps {
  readonly database: Database;
  readonly clock: Clock;
}

interface PooledConnection {
  readonly pool: PoolName;
  readonly connections: Connections;
  readonly connection: PoolConnection;
}

/**
 * Connections to MySQL's primary, opened on first use, so that a process can start while MySQL is
 * unreachable. Transactions run with autocommit off: a deadlock (1213) ends a transaction, and a
 * statement that was already sent after it would otherwise commit by itself.
 */
export class Database {
  private readonly primary: Primary;
  /** Leaves half of the connections for short reads while several tenants search. */
  private readonly searches: ConnectionLimit;
  private readonly statementObserver: StatementObserver;

  readonly reader = readerOver((sql) => this.read('reads', sql));

  /** Runs the short look-ups of every request on connections that long lists cannot occupy. */
  readonly lookup = readerOver((sql) => this.read('lookups', sql));

  /**
   * Runs reads that must be current even during a failover: tokens, sessions, results of a COMMIT.
   * A member of a group first waits for all earlier commits (docs/operations/database.md).
   */
  readonly current = readerOver((sql) => this.read('current', sql));

  constructor(private readonly options: DatabaseOptions) {
    const { url, tls: material, observer, statementObserver = NO_OBSERVER } = options;
    const { readConnections, transactionConnections, postingConnections = 0 } = options;
    this.searches = new ConnectionLimit(Math.ceil(readConnections / 2), SEARCHES_PER_TENANT);
    this.statementObserver = statementObserver;
    const address = mysqlAddress(url);
    const tls = material === undefined || material === null ? null : new MysqlTls(material);
    this.primary = new Primary({
      address,
      tls,
      observer,
      connect: (server, { identity, isGrouped }) =>
        new Connections({
          address,
          server,
          tls,
          poolSettings: poolSettings(isGrouped, options),
          maxOtherTransactions: Math.max(
            transactionConnections - postingConnections,
            MIN_OTHER_TRANSACTIONS,
          ),
          identitySql: IDENTITY_SQL,
          acceptsServer: (row) => acceptsWrites(row) && identityOf(row) === identity,
        }),
    });
  }

  isPrimaryKnown(): boolean {
    return this.primary.connections !== null;
  }

  poolUse(): ReadonlyMap<PoolName, PoolUse> {
    return this.primary.connections?.use() ?? new Map();
  }

  /** Returns a reader on its owner's share of the connections, which reads nothing after the deadline. */
  readerFor({ tenantId, deadline }: StatementOwner): Reader {
    const read = (sql: string): Promise<unknown> => this.read('reads', sql, deadline, tenantId);
    const search = async (sql: string): Promise<unknown> => {
      await this.searches.acquire(tenantId, deadline ?? this.statementDeadline());
      try {
        return await read(sql);
      } finally {
        this.searches.release(tenantId);
      }
    };
    return readerOver(read, search, this.reader.cacheKey);
  }

  private statementDeadline(): Deadline {
    return Deadline.afterMs(this.options.statementTimeoutMs);
  }

  private async read(
    pool: PoolName,
    sql: string,
    deadline = this.statementDeadline(),
    tenant: LimitedTenant = null,
  ): Promise<unknown> {
    const readOnce = async (): Promise<unknown> => {
      const pooled = await this.acquire(pool, deadline, tenant);
      try {
        const result = await this.send(pooled, 'read', sql, deadline);
        pooled.connections.release(pooled.connection);
        return result;
      } catch (error) {
        return this.endFailedUse(pooled, error);
      }
    };
    try {
      return await readOnce();
    } catch (error) {
      // An idle connection may have broken, or the primary may have changed: retry once.
      const mayWork = error instanceof DatabaseUnavailable && !(error instanceof NoPrimary);
      if (!mayWork || deadline.passed()) throw error;
      return readOnce();
    }
  }

  private async acquire(
    pool: PoolName,
    deadline: Deadline,
    share: ConnectionShare = null,
  ): Promise<PooledConnection> {
    const beganAt = performance.now();
    for (;;) {
      const connections =
        this.primary.connections ?? (await this.primary.waitForConnections(deadline));
      try {
        const connection = await connections.acquire(pool, deadline, share);
        this.statementObserver.connectionAcquired(pool, (performance.now() - beganAt) / 1_000);
        return { pool, connections, connection };
      } catch (error) {
        this.statementObserver.connectionMissed(pool);
        this.primary.searchNow();
        // Another server may have become the primary during the wait for a connection.
        if (!connections.isEnding || deadline.passed()) throw error;
      }
    }
  }

  private async send(
    { pool, connection }: PooledConnection,
    kind: StatementKind,
    sql: string,
    deadline: Deadline,
    onSuccess?: () => void,
  ): Promise<unknown> {
    const beganAt = performance.now();
    try {
      const result = await send(connection, sql, deadline, onSuccess);
      const isLock = kind === 'read' && sql.endsWith('FOR UPDATE');
      this.statementObserver.answered(
        pool,
        isLock ? 'lock' : kind,
        (performance.now() - beganAt) / 1_000,
      );
      return result;
    } catch (error) {
      this.statementObserver.failed(pool, errnoOf(error));
      throw error;
    }
  }

  /**
   * Runs `work` in a transaction, then the steps of `atEnd`, and commits. `work` must await all its
   * statements. If `beforeCommit` is given, or too little time is left for a wait for a lock, the
   * statements of `withCommit` run in a round trip before COMMIT instead of together with it. Throws
   * TransactionRetryable (rolled back, a retry may succeed), DatabaseUnavailable (not committed),
   * CommitUnknown (possibly committed), or, after the rollback, the error thrown by `work`.
   */
  async withTransaction<T>(
    work: (transaction: Transaction) => Promise<T>,
    deadline = this.statementDeadline(),
    share: ConnectionShare = null,
    beforeCommit: (() => unknown) | null = null,
  ): Promise<T> {
    const pooled = await this.acquire('transactions', deadline, share);
    const { connection, connections } = pooled;
    const end: TransactionEnd = { finalSteps: [], statements: [] };
    let result: T;
    try {
      const sendSql = (sql: string, kind: StatementKind) => this.send(pooled, kind, sql, deadline);
      const transaction = transactionOver(sendSql, end, connection);
      result = await work(transaction);
      for (const step of end.finalSteps) await step();
      // A wait for a lock must not carry a COMMIT that was sent in time past the deadline.
      const isLate = deadline.leftMs() < LOCK_WAIT_MS;
      if (beforeCommit !== null || isLate) await transaction.all(end.statements.splice(0));
      await beforeCommit?.();
      // Checked before COMMIT is sent, because the result would be unknown afterwards.
      if (connections.isEnding)
        throw new DatabaseUnavailable('the server is no longer the primary');
      if (deadline.passed()) throw new DatabaseUnavailable('no time was left for COMMIT');
    } catch (error) {
      return this.rollBack(pooled, error);
    }
    const { statements } = end;
    let succeeded = 0;
    try {
      const text = [...statements, 'COMMIT'].join(';');
      await this.send(pooled, 'commit', text, deadline, () => (succeeded += 1));
    } catch (error) {
      if (isUncommitted(error, succeeded, statements.length)) return this.rollBack(pooled, error);
      this.abandon(pooled, error);
      throw new CommitUnknown('COMMIT was not answered', { cause: error });
    }
    connections.release(connection);
    return result;
  }

  /** Runs a transaction of the ledger writer, which may use every connection for transactions. */
  withPosting<T>(
    work: (transaction: Transaction) => Promise<T>,
    deadline?: Deadline,
    beforeCommit: (() => unknown) | null = null,
  ): Promise<T> {
    return this.withTransaction(work, deadline, 'postings', beforeCommit);
  }

  /** Runs `work` on a consistent read-only snapshot of all tables, which never blocks a writer. */
  async withSnapshot<T>(work: (reader: Reader) => Promise<T>, timeoutMs: number): Promise<T> {
    const deadline = Deadline.afterMs(timeoutMs);
    const pooled = await this.acquire('transactions', deadline);
    const { connection, connections } = pooled;
    try {
      await send(connection, 'SET TRANSACTION ISOLATION LEVEL REPEATABLE READ', deadline);
      await send(connection, 'START TRANSACTION WITH CONSISTENT SNAPSHOT', deadline);
      const result = await work(readerOver((sql) => this.send(pooled, 'read', sql, deadline)));
      await send(connection, 'ROLLBACK', deadline);
      connections.release(connection);
      return result;
    } catch (error) {
      return this.rollBack(pooled, error);
    }
  }

  private async rollBack(pooled: PooledConnection, error: unknown): Promise<never> {
    if (isUnavailable(error) && !isRetryable(error)) return this.endFailedUse(pooled, error);
    try {
      await send(pooled.connection, 'ROLLBACK', Deadline.afterMs(ROLLBACK_MS));
      pooled.connections.release(pooled.connection);
    } catch {
      pooled.connections.discard(pooled.connection);
    }
    if (isRetryable(error))
      throw new TransactionRetryable('the transaction was rolled back', { cause: error });
    throw error;
  }

  /** Rethrows the error. If MySQL is unavailable, the statement may run on: discards its connection. */
  private endFailedUse(pooled: PooledConnection, error: unknown): never {
    if (!isUnavailable(error)) {
      pooled.connections.release(pooled.connection);
      throw error;
    }
    this.abandon(pooled, error);
    throw error instanceof DatabaseUnavailable
      ? error
      : new DatabaseUnavailable('MySQL went away', { cause: error });
  }

  private abandon({ connections, connection }: PooledConnection, error: unknown): void {
    connections.discard(connection);
    if (isNoPrimary(error)) this.primary.retire(connections, error);
    else this.primary.searchNow();
  }

  close(): Promise<void> {
    return this.primary.close();
  }
}
