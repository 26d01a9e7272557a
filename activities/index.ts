import type { PayoutApprovals } from '../src/payouts/approvals.js';
import type { Submissions } from '../src/payouts/submission.js';
import type { TransferApprovals } from '../src/transfers/approvals.js';
import type { BatchService } from '../src/batches/work.js';
import type { WebhookParts } from '../src/webhooks/parts.js';
import { batchActivities, type BatchActivities } from './batches.js';
import { payoutActivities, type PayoutActivities } from './payouts.js';
import { transferActivities, type TransferActivities } from './transfers.js';
import { webhookActivities, type WebhookActivities } from './webhooks.js';

/** The services that activities call. */
export interface ActivityServices {
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
  const { transferApprovals, payoutApprovals, submissions, batches, webhooks, stopping } = services;
  return {
    approvals: { ...transferActivities(transferApprovals), ...payoutActivities(payoutApprovals, submissions) },
    batches: batchActivities(batches, stopping),
    webhooks: webhookActivities(webhooks, stopping),
  };
}
