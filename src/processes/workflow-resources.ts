import { batchResource } from '../batches/workflow-resource.js';
import type { WorkflowResourceType } from '../db/entities/outbox.js';
import { payoutResource } from '../payouts/workflow-resource.js';
import type { WorkflowResource } from '../temporal/workflow-resources.js';
import { transferResource } from '../transfers/workflow-resource.js';
import { webhookResource } from '../webhooks/endpoint-workflow.js';

/** All types of resources that have a workflow while they wait. */
const RESOURCES: Readonly<Record<WorkflowResourceType, WorkflowResource>> = {
  transfer: transferResource,
  payout: payoutResource,
  bonus_batch: batchResource,
  webhook_endpoint: webhookResource,
};

export const WORKFLOW_RESOURCES: readonly WorkflowResource[] = Object.values(RESOURCES);
