import { setCurrentDetails, workflowInfo } from '@temporalio/workflow';
import type { AuditActivities } from '../activities/audit.js';
import { counted } from '../src/core/collections.js';
import type { AuditResult } from '../src/temporal/contracts.js';
import { describedActivities } from './common.js';

/** An audit lasts until the next is due. A retry continues it. */
const { auditLedger } = describedActivities<AuditActivities>(
  {
    startToCloseTimeout: '90 days',
    heartbeatTimeout: '30 seconds',
    retry: { initialInterval: '5 seconds', maximumInterval: '1 minute' },
  },
  { auditLedger: 'Audit the ledger, and wait until the next audit is due' },
);

/** Started by the schedule `ledger-audit`, whose name begins the workflow id. */
export async function ledgerAudit(): Promise<AuditResult> {
  const last = workflowInfo().lastResult as AuditResult | undefined;
  const result = await auditLedger(last?.checkpoint ?? null);
  setCurrentDetails(`Done: ${counted(result.findings, 'contradiction')}.`);
  return result;
}
