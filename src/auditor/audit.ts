import { bigint, string } from '../db/columns.js';
import type { Database } from '../db/database.js';
import { accountChecks } from './checks/accounts.js';
import { approvalChecks } from './checks/approvals.js';
import { auditLogChecks } from './checks/audit-log.js';
import { batchChecks } from './checks/batches.js';
import { entryChecks } from './checks/entries.js';
import { crossingChecks } from './checks/crossing.js';
import { eventChecks, eventCounterChecks, verifiedChecks } from './checks/events.js';
import { monthChecks } from './checks/months.js';
import { holdChecks, operationChecks } from './checks/operations.js';
import { railReportChecks } from './checks/rail-reports.js';
import { accountReferenceChecks, keyChecks } from './checks/references.js';
import { transactionChecks } from './checks/transactions.js';
import type { AuditPosition } from './position.js';
import { AuditRun, type Check } from './run.js';
import type { AuditOptions, AuditReport } from './types.js';

export type { AuditOptions, AuditReport, Finding } from './types.js';

/** All checks. What must hold for a feature's operations follows from its source (sources/index.ts). */
const CHECKS: readonly Check[] = [
  accountChecks,
  // The first five fill the tally; the sixth says where its two sides differ.
  operationChecks,
  transactionChecks,
  entryChecks,
  eventChecks,
  keyChecks,
  crossingChecks,
  verifiedChecks,
  holdChecks,
  approvalChecks,
  batchChecks,
  railReportChecks,
  monthChecks,
  eventCounterChecks,
  accountReferenceChecks,
  auditLogChecks,
];

/**
 * Recomputes the ledger from what never changes and compares. It may run while money moves: each slice is one snapshot,
 * nothing is locked, and memory does not grow with the ledger. Throws DatabaseUnavailable.
 */
export function audit(database: Database, options: AuditOptions = {}): Promise<AuditReport> {
  return runChecks(database, options, CHECKS);
}

/** The same for the chains of the audit log only: a finding says where one breaks. */
export function verifyAuditLog(
  database: Database,
  options: AuditOptions = {},
): Promise<AuditReport> {
  return runChecks(database, options, [auditLogChecks]);
}

async function runChecks(
  database: Database,
  options: AuditOptions,
  checks: readonly Check[],
): Promise<AuditReport> {
  const run = new AuditRun(database, options, await estimateRows(database, checks));
  await run.go(checks);
  return run.finish();
}

/** The result of a step of an audit. The next step continues at `position`; null: the audit is complete. */
export interface AuditStep extends AuditReport {
  readonly position: AuditPosition | null;
}

/** Continues an audit of everything until `options.isOver`. Throws DatabaseUnavailable, the signal's reason. */
export async function auditSome(
  database: Database,
  position: AuditPosition,
  options: Pick<AuditOptions, 'isOver' | 'share' | 'aheadMs' | 'signal'>,
): Promise<AuditStep> {
  const run = new AuditRun(database, options, 1, position);
  const next = await run.go(CHECKS);
  return { position: next, ...run.finish() };
}

/** Roughly how many rows will be read: the server's own estimate, which costs nothing. */
export async function estimateRows(
  database: Database,
  checks: readonly Check[] = CHECKS,
): Promise<number> {
  const rows = await database.reader.query(
    'SELECT table_name AS name, table_rows AS estimate FROM information_schema.tables WHERE table_schema=DATABASE()',
  );
  const sizes = new Map(
    rows.map((row) => [string.parse(row.name), bigint.parse(row.estimate ?? '0')]),
  );
  const total = checks
    .flatMap((check) => check.tables)
    .reduce((sum, name) => sum + (sizes.get(name) ?? 0n), 1n);
  return Number.parseInt(total.toString(), 10);
}
