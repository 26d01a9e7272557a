import type { Registry } from 'prom-client';
import { metersOf, registerGauges } from '../core/meters.js';
import type { Reader } from '../db/database.js';
import { type AuditedPart, auditStatus, type ScheduledAuditDeps } from './scheduled-audit.js';

/** Adds metrics about the scheduled audit. Returns an observer of its parts. */
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
