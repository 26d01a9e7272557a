import { webhookEndpoints } from '../db/entities/webhooks.js';
import {
  type ResourceInput,
  webhookWorkflowId,
  type WebhookWorkflowInput,
} from '../temporal/contracts.js';
import { workflowResource } from '../temporal/workflow-resources.js';

/** An endpoint has a workflow until it is deleted. */
export const webhookResource = workflowResource({
  resourceType: 'webhook_endpoint',
  workflowType: 'webhookEndpoint',
  taskQueue: 'webhooks',
  workflowIdOf: webhookWorkflowId,
  table: webhookEndpoints,
  states: ['enabled', 'disabled'],
  from: `webhook_endpoints t FORCE INDEX (PRIMARY) WHERE t.status<>'deleted'`,
  about: ({ id, status, pausedAt }) => ({
    status: pausedAt === null ? status : 'paused',
    summary: 'Deliveries to a webhook endpoint',
    input: { endpointId: id } satisfies ResourceInput<WebhookWorkflowInput>,
  }),
});
