import type { Clock } from '../core/instant.js';
import { type MysqlConfig, mysqlTls } from '../config/servers.js';
import { Database } from '../db/database.js';
import type { StatementObserver } from '../db/metrics.js';
import type { PrimaryObserver } from '../db/primary.js';
import { LedgerWriter, LedgerWriters } from '../ledger/writer/ledger-writer.js';
import type { WriterObserver } from '../ledger/writer/metrics.js';
import type { Fitness } from '../http/admin.js';
import type { DatabaseClock } from '../ledger/database-clock.js';
import { OPEN_RESTORE_SQL } from '../ledger/event-log.js';
import { RollbackGuard } from '../restores/checkpoint.js';
import type { Uuid } from '../core/ids.js';

/** Most commands in one group. */
const MAX_GROUP = 200;
/** Groups of one writer. A worker has writers for approvals, batches and payouts. */
export const GROUPS_IN_FLIGHT = 2;
const MAX_GATHER_MS = 20;
/** Queued commands beyond which new ones are refused with 503. */
const MAX_QUEUE = 5_000;

interface LedgerSettings extends MysqlConfig {
  readonly MYSQL_READ_CONNECTIONS: number;
  readonly MYSQL_TRANSACTION_CONNECTIONS: number;
  readonly COMMAND_TIMEOUT_MS: number;
}

interface LedgerObservers {
  readonly databaseClock: DatabaseClock;
  /** Called when commands were refused because an account's last entry is dated in the future. */
  readonly onAccountAhead: (accountId: Uuid, aheadMs: number) => void;
  readonly observerOf: (name: string) => WriterObserver;
  readonly primaryObserver: PrimaryObserver;
  readonly statementObserver: StatementObserver;
  /** Called when the ledger was closed because the database lost committed rows. */
  readonly onRolledBack: () => void;
  /** Called after a bug or fault of the service. */
  readonly onFault: (kind: string, fault: unknown) => void;
}

export interface Ledger {
  readonly clock: Clock;
  readonly databaseClock: DatabaseClock;
  readonly rollbackGuard: RollbackGuard;
  readonly database: Database;
  /** The writer for all commands that have no writer of their own. */
  readonly writer: LedgerWriter;
  readonly writers: LedgerWriters;
}

/** Builds the parts that every process shares. The database connects on first use. */
export function buildLedger(settings: LedgerSettings, observers: LedgerObservers): Ledger {
  const { databaseClock, observerOf, onFault, onAccountAhead, onRolledBack } = observers;
  const { now: clock } = databaseClock;
  const database = new Database({
    url: settings.MYSQL_URL,
    tls: mysqlTls(settings),
    observer: observers.primaryObserver,
    statementObserver: observers.statementObserver,
    readConnections: settings.MYSQL_READ_CONNECTIONS,
    transactionConnections: settings.MYSQL_TRANSACTION_CONNECTIONS,
    // Connections for a writer's groups, and one for its commands that wait for locks.
    postingConnections: GROUPS_IN_FLIGHT + 1,
    statementTimeoutMs: settings.COMMAND_TIMEOUT_MS,
  });
  const options = {
    maxGroup: MAX_GROUP,
    groupsInFlight: GROUPS_IN_FLIGHT,
    maxGatherMs: MAX_GATHER_MS,
    maxQueue: MAX_QUEUE,
    commandTimeoutMs: settings.COMMAND_TIMEOUT_MS,
  };
  const rollbackGuard = new RollbackGuard({ database, clock, onRolledBack });
  const deps = { database, clock, databaseClock, rollbackGuard, onFault, onAccountAhead };
  const writers = new LedgerWriters((name) => new LedgerWriter(deps, options, observerOf(name)));
  return {
    clock,
    databaseClock,
    rollbackGuard,
    database,
    writer: writers.add('main'),
    writers,
  };
}

/** Finds the primary and reads its clock before the first request. Never rejects. */
export async function prepareLedger({ database, databaseClock }: Ledger): Promise<void> {
  await databaseClock.read(database.lookup).catch(() => undefined);
}

/** Checks the database, and reads its clock again. */
export async function ledgerFitness(ledger: Ledger): Promise<Fitness> {
  const { database, databaseClock } = ledger;
  if (!database.isPrimaryKnown()) {
    void prepareLedger(ledger);
    return 'degraded';
  }
  try {
    await databaseClock.read(database.lookup);
    // A restored database is not ready until the restore is finished.
    const closed = await database.lookup.query(OPEN_RESTORE_SQL);
    return closed.length > 0 ? 'degraded' : 'ready';
  } catch {
    return 'degraded';
  }
}
