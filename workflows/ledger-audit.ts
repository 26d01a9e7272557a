import { proxyActivities, setCurrentDetails, workflowInfo } from '@temporalio/workflow';
import type { AuditActivities } from '../activities/audit.js';
import type { StandingStep } from '../src/auditor/standing.js';
import type { AuditResult } from '../src/temporal/contracts.js';

/**
 * A step takes about a minute, and after the last row perhaps many; it heartbeats every 5 s. A failure is retried
 * twice, then left to the schedule's next start, within minutes.
 */
const { auditSome } = proxyActivities<AuditActivities>({
  startToCloseTimeout: '2 hours',
  heartbeatTimeout: '30 seconds',
  retry: { initialInterval: '5 seconds', maximumAttempts: 3 },
});

/** One step of the scheduled audit. Its id begins with `ledger-audit`; a schedule of that name starts it. */
export async function ledgerAudit(): Promise<StandingStep & AuditResult> {
  const last = workflowInfo().lastResult as AuditResult | undefined;
  const step = await auditSome(last?.checkpoint ?? null);
  setCurrentDetails(
    `${step.ended}: ${step.rows} rows looked at, ${step.findings} contradiction(s).`,
  );
  return step;
}
