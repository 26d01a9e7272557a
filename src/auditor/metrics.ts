import type { Registry } from 'prom-client';
import { metersOf } from '../core/meters.js';
import { readTogether } from '../core/gauges.js';
import type { Clock } from '../core/instant.js';
import type { Reader } from '../db/database.js';
import { auditStanding, type StandingStep } from './standing.js';

/** The state of the scheduled audit. Returns the observer that counts its steps. */
export function auditMetrics(
  registry: Registry,
  {
    reader,
    clock,
    passEveryMs,
  }: { readonly reader: Reader; readonly clock: Clock; readonly passEveryMs: number },
): (step: StandingStep) => void {
  const { counter } = metersOf(registry);
  readTogether(
    registry,
    {
      audit_findings_open: {
        help: 'Contradictions the audit has found that nobody has acknowledged',
      },
      audit_pass_age_seconds: {
        help: 'Time since the last full audit ended; before that, since the first began or the first tenant was added',
      },
      audit_pass_every_seconds: { help: 'How often a full audit is to begin' },
    },
    async () => {
      const { open, since } = await auditStanding(reader);
      return {
        audit_findings_open: open,
        audit_pass_age_seconds: since === null ? 0 : (clock() - since) / 1_000,
        audit_pass_every_seconds: passEveryMs / 1_000,
      };
    },
  );
  const steps = counter(
    'audit_steps_total',
    'Steps of the audit, by outcome: done (a full audit), rests, idle, superseded',
    ['ended'],
  );
  const rows = counter('audit_rows_total', 'Rows the audit has looked at');
  return ({ ended, rows: looked }) => {
    steps.inc({ ended });
    rows.inc(looked);
  };
}
