import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Registry } from 'prom-client';
import { bigint, integer, string, time, uuid } from '../db/columns.js';
import type { Database, Reader } from '../db/database.js';
import { accountChecks } from './checks/accounts.js';
import { auditLogChecks } from './checks/audit-log.js';
import { batchChecks } from './checks/batches.js';
import { crossChecks } from './checks/cross-checks.js';
import { eventLogChecks } from './checks/events.js';
import { metadataChecks } from './checks/metadata.js';
import { railReportChecks } from './checks/rail-reports.js';
import { referenceChecks } from './checks/references.js';
import { scheduleChecks } from './checks/schedules.js';
import { type AuditOptions, type AuditReport, AuditRun, type Check, type Finding } from './scan.js';
import { newId } from '../core/ids.js';
import { type Clock, type Instant, instant } from '../core/instant.js';
import { metersOf, registerGauges } from '../core/meters.js';
import { Deadline } from '../core/timers.js';
import { type AuditFinding, auditFindings, auditPasses } from '../db/entities/audits.js';
import { insertSql, upsertSql } from '../db/statements.js';

export type { AuditOptions, AuditReport, Finding } from './scan.js';

/** All checks. The rules for the operations of each feature are in sources.ts. */
export const CHECKS: readonly Check[] = [
  accountChecks,
  crossChecks,
  metadataChecks,
  batchChecks,
  scheduleChecks,
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

async function runChecks(
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

/** At most this many slices are read from the start of one pass to the start of the next. */
const SLICES_PER_PASS = 18_000;
const STORE_TIMEOUT_MS = 60_000;
const PASSES_KEPT_MS = 90 * 86_400_000;
const MAX_SUBJECT = 255;
const MAX_MESSAGE = 2_000;
const FINDINGS_PER_STATEMENT = 500;

export interface ScheduledAuditDeps {
  readonly database: Database;
  readonly clock: Clock;
  /** Time from the start of one pass to the start of the next, unless the pass takes longer. */
  readonly everyMs: number;
}

export interface AuditedPart {
  /** Completed checks of the pass. */
  readonly reached: number;
  readonly rows: number;
  /** Contradictions, including known ones. */
  readonly findings: number;
  readonly isLast: boolean;
}

/**
 * Runs the next check of a pass that completed `reached` checks, and stores its findings. Returns
 * null if all are complete. May be repeated or abandoned. Throws `DatabaseUnavailable` and the reason of `signal`.
 */
export async function auditNext(
  { database, clock, everyMs }: ScheduledAuditDeps,
  pass: { readonly beganAt: Instant; readonly reached: number },
  signal: AbortSignal,
): Promise<AuditedPart | null> {
  const check = CHECKS[pass.reached];
  if (check === undefined) return null;
  const pause = (): Promise<void> => sleep(everyMs / SLICES_PER_PASS, undefined, { signal });
  const { findings, checked } = await runChecks(database, { pause }, [check]);
  const reached = pass.reached + 1;
  const isLast = reached === CHECKS.length;
  const now = clock();
  await database.withTransaction(async (transaction) => {
    const rows = new Map(
      findings.map((finding) => rowOf(finding, now)).map((row) => [row.id, row]),
    );
    const all = [...rows.values()];
    for (let from = 0; from < all.length; from += FINDINGS_PER_STATEMENT) {
      const some = all.slice(from, from + FINDINGS_PER_STATEMENT);
      // A known finding gets a new date and keeps its acknowledgement.
      await transaction.execute(upsertSql(auditFindings, some, ['lastFoundAt']));
    }
    if (!isLast) return;
    const done = { id: newId(), beganAt: pass.beganAt, endedAt: now };
    await transaction.execute(insertSql(auditPasses, [done]));
    const old = time.literal(instant(now - PASSES_KEPT_MS));
    await transaction.execute(`DELETE FROM audit_passes WHERE ended_at<${old}`);
  }, Deadline.afterMs(STORE_TIMEOUT_MS));
  const rows = Object.values(checked).reduce((sum, count) => sum + count, 0);
  return { reached, rows, findings: findings.length, isLast };
}

function rowOf({ check, subject, message }: Finding, now: Instant): AuditFinding {
  const digest = createHash('sha256').update([check, subject, message].join('\n')).digest();
  return {
    id: uuid.parse(digest.subarray(0, 16)),
    checkName: check,
    subject: [...subject].slice(0, MAX_SUBJECT).join(''),
    message: [...message].slice(0, MAX_MESSAGE).join(''),
    firstFoundAt: now,
    lastFoundAt: now,
    acknowledgedAt: null,
    acknowledgedBy: null,
  };
}

/**
 * Returns the number of open findings, and when the last pass ended. Before the first pass, the
 * time of the first tenant, so that a missing audit raises the alert.
 */
export async function auditStatus(
  reader: Reader,
): Promise<{ readonly open: number; readonly since: Instant | null }> {
  const [row] = await reader.query(
    `SELECT (SELECT COUNT(*) FROM audit_findings WHERE acknowledged_at IS NULL) AS open,
      (SELECT MAX(ended_at) FROM audit_passes) AS ended,
      (SELECT created_at FROM tenants ORDER BY id LIMIT 1) AS first`,
  );
  const at = row?.ended ?? row?.first ?? null;
  return { open: integer.parse(row?.open ?? 0), since: at === null ? null : time.parse(at) };
}

export function auditMetrics(
  registry: Registry,
  reader: Reader,
  { clock, everyMs }: Omit<ScheduledAuditDeps, 'database'>,
): (part: AuditedPart) => void {
  const { counter } = metersOf(registry);
  registerGauges(
    registry,
    {
      audit_findings_open: {
        help: 'Contradictions the audit has found that nobody has acknowledged',
      },
      audit_pass_age_seconds: {
        help: 'Time since the last full audit ended; before that, since the first tenant was added',
      },
      audit_pass_every_seconds: { help: 'How often a full audit is to begin' },
    },
    async () => {
      const { open, since } = await auditStatus(reader);
      return {
        audit_findings_open: open,
        audit_pass_age_seconds: since === null ? 0 : (clock() - since) / 1_000,
        audit_pass_every_seconds: everyMs / 1_000,
      };
    },
  );
  const passes = counter('audit_passes_total', 'Full audits that have ended');
  const rows = counter('audit_rows_total', 'Rows the audit has looked at');
  return (part) => {
    if (part.isLast) passes.inc();
    rows.inc(part.rows);
  };
}
