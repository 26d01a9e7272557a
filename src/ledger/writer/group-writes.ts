import { compareText } from '../../core/collections.js';
import type { Instant } from '../../core/instant.js';
import { time } from '../../db/columns.js';
import type { Transaction } from '../../db/database.js';
import {
  balances,
  entries,
  holds,
  ledgerTransactions,
  monthTotals,
} from '../../db/entities/ledger.js';
import { auditLog, type AuditRow } from '../../db/entities/identity.js';
import { metadataPairs } from '../../db/entities/metadata.js';
import { pairsOf } from '../../db/metadata-index.js';
import { insertSql, sqlFor, upsertSql } from '../../db/statements.js';
import type { Table } from '../../db/table.js';
import { chainedInsertsSql, lockChainsSql } from '../audit-chain.js';
import { eventStatements } from '../event-log.js';
import type { TransactionKeys } from '../idempotency.js';
import type { GroupWrites } from './group-state.js';

/**
 * Writes a group as multi-row statements, in lock order: keys, rows guarded by the account locks,
 * resources, event counters, audit chains. The statements and COMMIT are sent as one text, so the
 * locks are held for no round trip, except for the audit log, whose hashes this process computes.
 * Nothing is committed after waits for locks until after `until`. (docs/decisions/0002-group-commit.md)
 */
export async function writeGroup(
  transaction: Transaction,
  keys: TransactionKeys,
  writes: GroupWrites,
  now: Instant,
  until: Instant,
): Promise<void> {
  const statements = [
    ...keys.insertSql(),
    ...ledgerStatements(writes),
    ...resourceStatements(writes.rows),
  ];
  const events = eventStatements(writes.events, now);
  const auditRows = auditRowsOf(writes.rows);
  // Fails with 1690 (out of range) after this time, by the clock of the server.
  const inTime = `SET @late=~0+(SYSDATE(3)>${time.literal(until)})`;
  if (auditRows.length === 0) return transaction.withCommit([...statements, ...events, inTime]);
  const rows = await transaction.all([...statements, ...events, ...lockChainsSql(auditRows)]);
  transaction.withCommit([...chainedInsertsSql(rows.at(-1) ?? [], auditRows), inTime]);
}

/** Returns the new rows of the audit log, in the order of their decisions. */
function auditRowsOf(tables: GroupWrites['rows']): AuditRow[] {
  // The rows written to a table have the type of its rows.
  return Array.from(tables.get(auditLog)?.values() ?? [], ({ row }) => row as unknown as AuditRow);
}

function ledgerStatements(writes: GroupWrites): string[] {
  return [
    ...sqlFor(writes.transactions, (rows) => insertSql(ledgerTransactions, rows)),
    ...sqlFor(writes.entries, (rows) => insertSql(entries, rows)),
    ...sqlFor([...writes.balances.values()], (rows) =>
      upsertSql(balances, rows, ['available', 'held', 'seq', 'lastPostedAt']),
    ),
    ...sqlFor([...writes.months.values()], (rows) => upsertSql(monthTotals, rows, ['used'])),
    ...sqlFor([...writes.holds.values()], (rows) =>
      upsertSql(holds, rows, ['remaining', 'expiresAt']),
    ),
  ];
}

function resourceStatements(tables: GroupWrites['rows']): string[] {
  return Array.from(tables).flatMap(([table, writes]) => {
    if (table === auditLog) return [];
    const sorted = [...writes.values()].sort((a, b) => compareText(a.row.id, b.row.id));
    const all = table.columns
      .map((column) => column.property)
      .filter((property) => property !== 'id');
    const newRows = sorted.filter(({ isNew }) => isNew).map(({ row }) => row);
    const changedRows = sorted.filter(({ isNew }) => !isNew).map(({ row }) => row);
    return [
      ...sqlFor(newRows, (rows) => insertSql(table, rows)),
      ...sqlFor(
        newRows.flatMap((row) => pairsOf(table, row)),
        (pairs) => insertSql(metadataPairs, pairs),
      ),
      ...sqlFor(changedRows, (rows) =>
        upsertSql(table as Table<Record<string, unknown>>, rows, all),
      ),
    ];
  });
}
