import { Context } from '@temporalio/activity';
import type { ApprovalDeps } from '../src/approvals/service.js';
import type { DatabaseDeps } from '../src/db/database.js';
import type { PayoutSubmitter } from '../src/payouts/rail-calls.js';
import type { BatchWorkflowService } from '../src/batches/workflow-service.js';
import { type StaffDeps, StaffSignals } from '../src/staff/verification.js';
import type { TemporalClient } from '../src/temporal/client.js';
import { auditActivities, type AuditServices } from './audit.js';
import { batchActivities } from './batches.js';
import { payoutActivities, railActivities, transferActivities } from './approvals.js';
import { scheduleActivities } from './schedules.js';
import type { TransferApprovals } from '../src/transfers/approval-outcomes.js';
import type { PayoutApprovals } from '../src/payouts/decide.js';
import { asUuid } from '../src/core/ids.js';
import type { EndpointActionSignal } from '../src/temporal/contracts.js';
import { checkEndpoint, performSignal } from '../src/webhooks/endpoint-workflow.js';

/** Only dispatchers send webhooks: these activities change the rows that dispatchers read. */
function webhookActivities(deps: DatabaseDeps, signals: StaffSignals) {
  return {
    checkEndpoint: (endpointId: string) => checkEndpoint(deps, asUuid(endpointId)),
    /** Returns why the action was refused, or null. */
    actOnEndpoint: (signal: EndpointActionSignal) => performSignal(deps, signal, signals),
  };
}
export type WebhookActivities = ReturnType<typeof webhookActivities>;

export interface ActivityServices extends AuditServices {
  readonly staff: StaffDeps;
  readonly client: Pick<TemporalClient, 'signalReceivedAt'>;
  readonly transferApprovals: TransferApprovals;
  readonly schedules: ApprovalDeps;
  readonly batches: BatchWorkflowService;
  readonly webhooks: DatabaseDeps;
  /** Aborted when the process stops; long activities then continue in another process. */
  readonly stopping: AbortSignal;
  readonly payoutApprovals: PayoutApprovals;
  readonly submitter: PayoutSubmitter;
}

export function createActivities(services: ActivityServices) {
  const { transferApprovals, payoutApprovals, submitter, batches, webhooks, stopping } = services;
  const signals = new StaffSignals(services.staff, async (workflowId, signal) => {
    const { workflowExecution: run } = Context.current().info;
    return run?.workflowId === workflowId ? services.client.signalReceivedAt(run, signal) : null;
  });
  return {
    approvals: {
      ...transferActivities(transferApprovals, signals),
      ...scheduleActivities(services.schedules, signals),
      ...auditActivities(services, stopping),
    },
    payouts: payoutActivities(payoutApprovals, submitter, signals),
    rails: railActivities(payoutApprovals, submitter),
    batches: batchActivities(batches, signals, stopping),
    webhooks: webhookActivities(webhooks, signals),
  };
}
export type Activities = ReturnType<typeof createActivities>;
