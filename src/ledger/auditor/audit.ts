import { bigint, string } from '../../db/columns.js';
import type { Database } from '../../db/database.js';
import { accountChecks } from './checks/accounts.js';
import { approvalChecks } from './checks/approvals.js';
import { batchChecks } from './checks/batches.js';
import { entryChecks } from './checks/entries.js';
import { eventChecks, eventCounterChecks } from './checks/events.js';
import { monthChecks } from './checks/months.js';
import { holdChecks, operationChecks } from './checks/operations.js';
import { railWordChecks } from './checks/rail-words.js';
import { accountReferenceChecks, keyChecks } from './checks/references.js';
import { transactionChecks } from './checks/transactions.js';
import { AuditRun, type Check } from './run.js';
import type { AuditOptions, AuditReport } from './types.js';

export type { AuditOptions, AuditReport, Finding } from './types.js';

/** All checks. What is true of a feature's operations follows from its source (sources/index.ts). */
const CHECKS: readonly Check[] = [
  accountChecks,
  entryChecks,
  transactionChecks,
  operationChecks,
  holdChecks,
  approvalChecks,
  batchChecks,
  railWordChecks,
  monthChecks,
  eventChecks,
  eventCounterChecks,
  keyChecks,
  accountReferenceChecks,
];

/**
 * Recomputes the ledger from what cannot change and compares. It may run while money moves: each slice is one snapshot,
 * nothing is locked, and its memory does not grow with the ledger. Throws DatabaseUnavailable.
 */
export async function audit(database: Database, options: AuditOptions = {}): Promise<AuditReport> {
  const run = new AuditRun(database, options, await estimate(database));
  for (const check of CHECKS) await check.run(run);
  return run.finish();
}

/** About how many rows will be looked at: the server's own estimate, which costs nothing. */
async function estimate(database: Database): Promise<number> {
  const rows = await database.reader.query(
    'SELECT table_name AS name, table_rows AS estimate FROM information_schema.tables WHERE table_schema=DATABASE()',
  );
  const sizes = new Map(rows.map((row) => [string.parse(row.name), bigint.parse(row.estimate ?? '0')]));
  const total = CHECKS.flatMap((check) => check.tables).reduce((sum, name) => sum + (sizes.get(name) ?? 0n), 1n);
  return Number.parseInt(total.toString(), 10);
}
