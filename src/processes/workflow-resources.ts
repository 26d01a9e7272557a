import { batchWorkflowResource } from '../batches/workflow-service.js';
import type { WorkflowResourceType } from '../db/entities/outbox.js';
import { payoutWorkflowResource } from '../payouts/service.js';
import type { WorkflowResource } from '../temporal/workflow-resources.js';
import { transferWorkflowResource } from '../transfers/approval-outcomes.js';
import { scheduleWorkflowResource } from '../transfers/schedules/run.js';
import { endpointWorkflowResource } from '../webhooks/endpoint-workflow.js';

/** All types of resources that have a workflow while they wait. */
const RESOURCES: Readonly<Record<WorkflowResourceType, WorkflowResource>> = {
  transfer: transferWorkflowResource,
  payout: payoutWorkflowResource,
  bonus_batch: batchWorkflowResource('bonus'),
  payout_batch: batchWorkflowResource('payout'),
  webhook_endpoint: endpointWorkflowResource,
  schedule: scheduleWorkflowResource,
};

export const WORKFLOW_RESOURCES: readonly WorkflowResource[] = Object.values(RESOURCES);
