import { Context } from '@temporalio/activity';
import type { PayoutApprovals } from '../src/payouts/approvals.js';
import type { Submissions } from '../src/payouts/submission.js';
import type { TransferApprovals } from '../src/transfers/approvals.js';
import type { BatchService } from '../src/batches/work.js';
import { StaffSignals } from '../src/staff/signals.js';
import type { StaffParts } from '../src/staff/verification.js';
import type { SignalTimes } from '../src/temporal/signal-times.js';
import type { WebhookParts } from '../src/webhooks/parts.js';
import { batchActivities, type BatchActivities } from './batches.js';
import { payoutActivities, type PayoutActivities } from './payouts.js';
import { transferActivities, type TransferActivities } from './transfers.js';
import { webhookActivities, type WebhookActivities } from './webhooks.js';

/** The services that activities call. */
export interface ActivityServices {
  readonly staff: StaffParts;
  readonly signalTimes: Pick<SignalTimes, 'receivedAt'>;
  readonly transferApprovals: TransferApprovals;
  readonly batches: BatchService;
  readonly webhooks: WebhookParts;
  /** Says that the process is to stop: long work ends early, and goes on elsewhere. */
  readonly stopping: AbortSignal;
  readonly payoutApprovals: PayoutApprovals;
  readonly submissions: Submissions;
}

/** The activities of each task queue. */
export interface Activities {
  readonly approvals: TransferActivities & PayoutActivities;
  readonly batches: BatchActivities;
  readonly webhooks: WebhookActivities;
}

export function createActivities(services: ActivityServices): Activities {
  const { staff, signalTimes, transferApprovals, payoutApprovals, submissions, batches, webhooks, stopping } = services;
  const signals = new StaffSignals(staff, async (name, number) => {
    const { workflowExecution: run } = Context.current().info;
    return run === undefined ? null : signalTimes.receivedAt(run, name, number);
  });
  return {
    approvals: {
      ...transferActivities(transferApprovals, signals),
      ...payoutActivities(payoutApprovals, submissions, signals),
    },
    batches: batchActivities(batches, signals, stopping),
    webhooks: webhookActivities(webhooks, signals, stopping),
  };
}
