import type { Socket } from 'node:net';
import {
  type Connection,
  createPool,
  type Pool,
  type PoolConnection,
  type RowDataPacket,
} from 'mysql2';
import { type Deadline, withTimeout } from '../core/timers.js';
import { DatabaseUnavailable, WrongServer } from './failures.js';
import { ConnectionLimit, type ConnectionShare } from './connection-limit.js';
import { connectOptions, type MysqlAddress, type MysqlServer, type MysqlTls } from './servers.js';

const POOL_NAMES = ['reads', 'lookups', 'current', 'transactions'] as const;
/** Without a group of servers, `current` shares the connections of `lookups`. */
export type PoolName = (typeof POOL_NAMES)[number];

/** Makes a session's reads wait for all earlier commits of the whole group. */
export const READ_CURRENT_SQL = "SET SESSION group_replication_consistency='BEFORE'";

interface PoolSettings {
  readonly limit: number;
  /** Whether statements may share a round trip (docs/decisions/0002-group-commit.md). */
  readonly multipleStatements: boolean;
  readonly setup: readonly string[];
}

export interface PoolUse {
  readonly used: number;
  readonly waiting: number;
  readonly limit: number;
}

interface ConnectionsOptions {
  readonly address: MysqlAddress;
  readonly server: MysqlServer;
  readonly tls: MysqlTls | null;
  readonly poolSettings: Readonly<Record<Exclude<PoolName, 'current'>, PoolSettings>> & {
    readonly current: PoolSettings | null;
  };
  /** Limit of concurrent transactions that are not postings. */
  readonly maxOtherTransactions: number;
  /** Statement run on each new connection, which fails unless `acceptsServer` accepts its row. */
  readonly identitySql: string;
  readonly acceptsServer: (row: RowDataPacket | undefined) => boolean;
}

/** A connection in use. `release` returns its permit, if its pool has a limit. */
interface Loan {
  readonly pool: PoolName;
  readonly release: () => void;
}

export const LOCK_WAIT_MS = 1_000;
/** Age at which a connection is replaced, less up to a fifth of jitter. */
const MAX_AGE_MS = 300_000;
/** How long statements in progress may still run when the pools end. */
const END_TIMEOUT_MS = 2_000;

const WRONG_SERVER = 'the connection leads to another server, or to one that accepts no writes';

const SESSION = [
  'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED',
  `SET SESSION innodb_lock_wait_timeout=${LOCK_WAIT_MS / 1_000}, time_zone='+00:00', ` +
    `sql_mode='STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ZERO_DATE,NO_ZERO_IN_DATE,NO_ENGINE_SUBSTITUTION'`,
];

/** The connections to one server, for as long as it is the primary. */
export class Connections {
  private readonly pools: Readonly<Record<PoolName, Pool>>;
  private readonly replaceAt = new Map<PoolConnection, number>();
  private readonly loans = new Map<PoolConnection, Loan>();
  private readonly waiting = new Map<PoolName, number>();
  /**
   * Keep connections free for other tenants and, in the pool of transactions, for postings while all
   * other transactions wait for the same row.
   */
  private readonly limits: Partial<Readonly<Record<PoolName, ConnectionLimit>>>;
  /** True once `end` was called. */
  isEnding = false;

  constructor(private readonly options: ConnectionsOptions) {
    const { reads, lookups, current, transactions } = options.poolSettings;
    this.limits = {
      reads: new ConnectionLimit(reads.limit),
      transactions: new ConnectionLimit(options.maxOtherTransactions),
    };
    const lookupPool = this.openPool(lookups);
    this.pools = {
      reads: this.openPool(reads),
      lookups: lookupPool,
      current: current === null ? lookupPool : this.openPool(current),
      transactions: this.openPool(transactions),
    };
  }

  /** Takes a connection, to be returned by `release` or `discard`. Throws DatabaseUnavailable. */
  async acquire(
    pool: PoolName,
    deadline: Deadline,
    share: ConnectionShare,
  ): Promise<PoolConnection> {
    this.waiting.set(pool, (this.waiting.get(pool) ?? 0) + 1);
    try {
      const release = await this.takePermit(pool, deadline, share);
      try {
        const connection = await this.take(pool, deadline);
        this.loans.set(connection, { pool, release });
        return connection;
      } catch (failure) {
        release();
        throw failure;
      }
    } finally {
      this.waiting.set(pool, (this.waiting.get(pool) ?? 1) - 1);
    }
  }

  private async takePermit(
    pool: PoolName,
    deadline: Deadline,
    share: ConnectionShare,
  ): Promise<() => void> {
    const limit = this.limits[pool];
    if (limit === undefined || share === 'postings') return () => undefined;
    await limit.acquire(share, deadline);
    return () => limit.release(share);
  }

  private async take(name: PoolName, deadline: Deadline): Promise<PoolConnection> {
    for (;;) {
      const connection = await take(this.pools[name], deadline);
      if (performance.now() < (this.replaceAt.get(connection) ?? Infinity)) return connection;
      this.discard(connection);
    }
  }

  use(): ReadonlyMap<PoolName, PoolUse> {
    const { poolSettings } = this.options;
    const loans = [...this.loans.values()];
    return new Map(
      POOL_NAMES.map((name) => {
        const used = loans.filter(({ pool }) => pool === name).length;
        const { limit } = poolSettings[name] ?? poolSettings.lookups;
        return [name, { used, waiting: this.waiting.get(name) ?? 0, limit }];
      }),
    );
  }

  release(connection: PoolConnection): void {
    this.endLoan(connection);
    // An ending pool has already queued the end of the connection.
    if (!this.isEnding) connection.release();
  }

  discard(connection: PoolConnection): void {
    this.replaceAt.delete(connection);
    this.endLoan(connection);
    connection.destroy();
  }

  private endLoan(connection: PoolConnection): void {
    const loan = this.loans.get(connection);
    if (this.loans.delete(connection)) loan?.release();
  }

  /** Ends every connection after its current statement, by force if it does not end soon. */
  async end(): Promise<void> {
    this.isEnding = true;
    const pools = new Set(Object.values(this.pools));
    const ended = Promise.all(
      Array.from(pools, (pool) => new Promise<void>((done) => pool.end(() => done()))),
    );
    // The driver never reports the end of a destroyed connection or of one to a frozen server.
    const isEnded = await withTimeout(END_TIMEOUT_MS, () => ended.then(() => true), false);
    if (!isEnded) for (const connection of this.replaceAt.keys()) this.discard(connection);
  }

  private openPool({ limit, multipleStatements, setup }: PoolSettings): Pool {
    const { address, server, tls, identitySql, acceptsServer } = this.options;
    const pool = createPool({
      ...connectOptions(address, server, tls),
      connectionLimit: limit,
      multipleStatements,
    });
    pool.on('connection', (connection) => {
      this.replaceAt.set(connection, performance.now() + MAX_AGE_MS * (1 - Math.random() / 5));
      // An unhandled `error` event would end the process. Statements receive the error themselves.
      connection.on('error', () => this.replaceAt.delete(connection));
      for (const statement of [...SESSION, ...setup])
        connection.query(statement, (error) => {
          // An incomplete session setup makes the connection unusable.
          if (error) failConnection(connection, error);
        });
      connection.query<RowDataPacket[]>(identitySql, (error, rows) => {
        if (error) failConnection(connection, error);
        else if (!acceptsServer(rows[0])) failConnection(connection, new WrongServer(WRONG_SERVER));
      });
    });
    return pool;
  }
}

/** Fails every statement on the connection at once. After `destroy` they would time out. */
export function failConnection(connection: Connection, error: Error): void {
  (connection as unknown as { readonly stream: Socket }).stream.destroy(error);
}

function take(pool: Pool, deadline: Deadline): Promise<PoolConnection> {
  return new Promise((resolve, reject) => {
    let isWaiting = true;
    const timer = setTimeout(() => {
      isWaiting = false;
      reject(new DatabaseUnavailable('no connection to MySQL became free in time'));
    }, deadline.leftMs());
    pool.getConnection((error, connection) => {
      clearTimeout(timer);
      if (error) reject(new DatabaseUnavailable('MySQL refused a connection', { cause: error }));
      else if (isWaiting) resolve(connection);
      else connection.release();
    });
  });
}

/**
 * Sends a statement. Throws DatabaseUnavailable after the deadline, which also counts the wait
 * behind earlier statements, and the driver's errors. Calls `onSuccess` for each statement that
 * succeeds without returning rows.
 */
export function send(
  connection: Connection,
  sql: string,
  deadline: Deadline,
  onSuccess?: () => void,
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const timeoutMs = deadline.leftMs();
    if (timeoutMs === 0) return reject(new DatabaseUnavailable('no time was left for a statement'));
    const timer = setTimeout(
      () => reject(new DatabaseUnavailable('MySQL did not answer in time')),
      timeoutMs,
    );
    // `values: null` stops the driver from replacing placeholders.
    const query = connection.query({ sql, values: null }, (error, answer) => {
      clearTimeout(timer);
      if (error) reject(error);
      else resolve(answer);
    });
    if (onSuccess !== undefined) query.on('result', onSuccess);
  });
}

const LOOKUP_CONNECTIONS = 4;
/** Limit on the time for which a frozen process holds locks. */
const IDLE_TRANSACTION_S = 30;

/** Returns each pool's settings. Only a group of servers needs separate connections for `current`. */
export function poolSettings(
  isGrouped: boolean,
  {
    readConnections,
    transactionConnections,
    statementTimeoutMs: timeoutMs,
  }: {
    readonly readConnections: number;
    readonly transactionConnections: number;
    readonly statementTimeoutMs: number;
  },
): ConnectionsOptions['poolSettings'] {
  // The server then ends a SELECT whose connection has closed. MariaDB and MySQL each run one comment.
  const limits = `/*M!100101 max_statement_time=${timeoutMs / 1000}, */ /*!50708 max_execution_time=${timeoutMs}, */ wait_timeout=3600`;
  const reading = [`SET SESSION autocommit=1, ${limits}`];
  const lookups = { limit: LOOKUP_CONNECTIONS, multipleStatements: false, setup: reading };
  return {
    reads: { ...lookups, limit: readConnections },
    lookups,
    current: isGrouped ? { ...lookups, setup: [...reading, READ_CURRENT_SQL] } : null,
    transactions: {
      limit: transactionConnections,
      multipleStatements: true,
      setup: [`SET SESSION autocommit=0, wait_timeout=${IDLE_TRANSACTION_S}`],
    },
  };
}
