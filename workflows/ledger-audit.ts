import { proxyActivities, setCurrentDetails, workflowInfo } from '@temporalio/workflow';
import type { AuditActivities } from '../activities/audit.js';
import type { AuditResult } from '../src/temporal/contracts.js';

/**
 * An audit lasts until the next is due. A large ledger takes longer. It heartbeats every 5 s, and is
 * retried until it has ended, because a retry continues and without audits no checkpoint is stored.
 */
const { auditLedger } = proxyActivities<AuditActivities>({
  startToCloseTimeout: '90 days',
  heartbeatTimeout: '30 seconds',
  retry: { initialInterval: '5 seconds', maximumInterval: '1 minute' },
});

/** Audits the whole ledger. A schedule named `ledger-audit`, with which the workflow id begins, starts it. */
export async function ledgerAudit(): Promise<AuditResult> {
  const last = workflowInfo().lastResult as AuditResult | undefined;
  const result = await auditLedger(last?.checkpoint ?? null);
  setCurrentDetails(`done: ${result.findings} contradiction(s).`);
  return result;
}
