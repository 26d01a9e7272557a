import type { Uuid } from '../../core/ids.js';
import type { Instant } from '../../core/instant.js';
import { integer, time, uuid } from '../../db/columns.js';
import type { Database, DatabaseDeps, Transaction } from '../../db/database.js';
import { balances } from '../../db/entities/ledger.js';
import { accounts, LOCKABLE_COLUMNS } from '../../db/entities/parties.js';
import { columnList, equalsSql, literals, selectSql } from '../../db/statements.js';
import { parseRow, type Table, withColumns } from '../../db/table.js';
import { type DatabaseClock, NOW_SQL } from '../database-clock.js';
import { OPEN_RESTORE_SQL } from '../event-log.js';
import { type BoundKeys, parseKeys, selectKeysSql } from '../idempotency.js';
import { type RowsByKey, LoadedTable } from './loaded-table.js';
import { GroupState, type LoadedTables } from './group-state.js';
import type { GroupAccounts, PendingCommand } from './pending-command.js';
import { type RowKey, NO_OWNERS } from './types.js';

/** Thrown while a restore is unfinished. (docs/operations/backup.md) */
export class LedgerClosed extends Error {
  override name = 'LedgerClosed';
}

export interface LoadDeps extends DatabaseDeps {
  readonly databaseClock: DatabaseClock;
  readonly onFault: (kind: string, fault: unknown) => void;
}

export interface LockedGroup {
  readonly state: GroupState;
  readonly keys: BoundKeys;
  /** Server's time after all locks were obtained. */
  readonly lockedAt: Instant;
  /** That time as the clock that dates money has it. */
  readonly now: Instant;
}

const lockedAccounts = withColumns(accounts, LOCKABLE_COLUMNS);

/**
 * Locks and reads everything that the group's decisions need, in one round trip: the accounts in
 * sorted order, then their balances, the clock, the keys and the requested rows. Each statement
 * sees every earlier commit, so no row is older than the locks. Throws `LedgerClosed`.
 */
export async function lockAndLoad(
  deps: LoadDeps,
  transaction: Transaction,
  group: readonly PendingCommand[],
  groupAccounts: GroupAccounts,
): Promise<LockedGroup> {
  const tables = tablesToLoad(deps, group, groupAccounts);
  const requested = Array.from(tables, ([table, { rowsByKey }]) =>
    rowsByKey.map((rows) => ({ table, rows })),
  ).flat();
  const ids = new Set(group.flatMap((pending) => groupAccounts.ids.get(pending) ?? []));
  const reads = [
    `SELECT ${NOW_SQL}, EXISTS(${OPEN_RESTORE_SQL}) AS is_closed`,
    selectKeysSql(group.map((pending) => pending.command)),
    ...requested.map(({ table, rows }) => selectByKeysSql(table, rows)),
  ];
  const sentAt = deps.databaseClock.localNow();
  const lockAndRead = [lockSql(ids), selectSql(balances, { accountId: [...ids] })];
  const [locked = [], totals = [], [moment] = [], keys = [], ...loaded] =
    ids.size === 0
      ? [[], [], ...(await transaction.all(reads))]
      : await transaction.all([...lockAndRead, ...reads], 'lock');
  if (integer.parse(moment?.is_closed) === 1)
    throw new LedgerClosed('the database was restored to an earlier moment');
  requested.forEach(({ table, rows }, index) => {
    for (const row of loaded[index] ?? [])
      rows.add(parseRow(table, row) as Record<string, unknown>);
  });
  return {
    state: new GroupState(
      locked.map((row) => parseRow(lockedAccounts, row)),
      totals.map((row) => parseRow(balances, row)),
      tables,
    ),
    keys: parseKeys(keys),
    lockedAt: time.parse(moment?.now),
    now: deps.databaseClock.parseReading(moment?.now, sentAt),
  };
}

/** Locks the accounts in the order of their ids. Only these locks guard their balances. */
function lockSql(ids: ReadonlySet<Uuid>): string {
  return `SELECT ${columnList(lockedAccounts)} FROM accounts FORCE INDEX (PRIMARY)
     WHERE id IN (${literals(accounts, 'id', ids)}) ORDER BY id FOR UPDATE`;
}

function tablesToLoad(
  deps: LoadDeps,
  group: readonly PendingCommand[],
  groupAccounts: GroupAccounts,
): LoadedTables {
  const now = deps.clock();
  const tables = new Map<Table<unknown>, LoadedTable>();
  for (const pending of group)
    for (const rowKey of rowKeysOf(deps, pending, now, groupAccounts)) {
      let table = tables.get(rowKey.table);
      if (table === undefined) tables.set(rowKey.table, (table = new LoadedTable()));
      table.addKey(rowKey);
    }
  return tables;
}

/** A bug in `rowKeys` fails only this command, when it is decided. */
function rowKeysOf(
  deps: LoadDeps,
  { kind, command }: PendingCommand,
  now: Instant,
  { owners }: GroupAccounts,
): readonly RowKey[] {
  try {
    return kind.rowKeys(command, now, owners.get(kind) ?? NO_OWNERS);
  } catch (fault) {
    deps.onFault(kind.name, fault);
    return [];
  }
}

/** Returns one SELECT for all keys. Uses IN if the keys differ in one property, or else OR. */
function selectByKeysSql(table: Table<unknown>, { properties, keys }: RowsByKey): string {
  const own = table as Table<Record<string, unknown>>;
  const [first = {}] = keys;
  const [differing = properties[0] ?? '', ...others] = properties.filter((property) =>
    keys.some((key) => key[property] !== first[property]),
  );
  const isListed = others.length === 0 && keys.every((key) => key[differing] !== null);
  if (isListed) return selectSql(own, { ...first, [differing]: keys.map((key) => key[differing]) });
  const conditions = keys.map((key) => `(${equalsSql(own, key)})`);
  return `SELECT ${columnList(table)} FROM ${table.name} WHERE ${conditions.join(' OR ')}`;
}

/** Returns the accounts that another transaction has locked, without waiting for the locks. */
export async function findLockedElsewhere(
  database: Database,
  ids: readonly Uuid[],
): Promise<Set<Uuid>> {
  const list = `id IN (${literals(accounts, 'id', ids)})`;
  const [existing = [], free = []] = await database.withPosting((transaction) =>
    transaction.all([
      `SELECT id FROM accounts WHERE ${list}`,
      `SELECT id FROM accounts FORCE INDEX (PRIMARY) WHERE ${list} ORDER BY id FOR UPDATE SKIP LOCKED`,
    ]),
  );
  const locked = new Set(existing.map((row) => uuid.parse(row.id)));
  for (const row of free) locked.delete(uuid.parse(row.id));
  return locked;
}
