import { bigint, string } from '../db/columns.js';
import type { Database } from '../db/database.js';
import { accountChecks } from './checks/accounts.js';
import { auditLogChecks } from './checks/audit-log.js';
import { batchChecks } from './checks/batches.js';
import { crossChecks } from './checks/cross-checks.js';
import { eventLogChecks } from './checks/event-logs.js';
import { railReportChecks } from './checks/rail-reports.js';
import { referenceChecks } from './checks/references.js';
import { type AuditOptions, type AuditReport, AuditRun, type Check } from './run.js';

export type { AuditOptions, AuditReport, Finding } from './run.js';

/** All checks. A feature's source defines the rules for its operations (sources/index.ts). */
export const CHECKS: readonly Check[] = [
  accountChecks,
  crossChecks,
  batchChecks,
  railReportChecks,
  eventLogChecks,
  referenceChecks,
  auditLogChecks,
];

/** Recomputes the ledger from rows that never change. May run while money moves. */
export function audit(database: Database, options: AuditOptions = {}): Promise<AuditReport> {
  return runChecks(database, options, CHECKS);
}

export function verifyAuditLog(
  database: Database,
  options: AuditOptions = {},
): Promise<AuditReport> {
  return runChecks(database, options, [auditLogChecks]);
}

export async function runChecks(
  database: Database,
  options: AuditOptions,
  checks: readonly Check[],
): Promise<AuditReport> {
  const run = new AuditRun(database, options, await estimateRows(database, checks));
  for (const check of checks) await check.run(run);
  return run.finish();
}

async function estimateRows(database: Database, checks: readonly Check[]): Promise<number> {
  const rows = await database.reader.query(
    `SELECT table_name AS name, table_rows AS estimate FROM information_schema.tables
     WHERE table_schema=DATABASE()`,
  );
  const sizes = new Map(
    rows.map((row) => [string.parse(row.name), bigint.parse(row.estimate ?? '0')]),
  );
  const tables = checks.flatMap((check) => check.tables);
  return Number.parseInt(
    tables.reduce((sum, name) => sum + (sizes.get(name) ?? 0n), 1n).toString(),
  );
}
