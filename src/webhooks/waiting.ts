import { time } from '../db/columns.js';
import { type WebhookEndpoint, webhookEndpoints } from '../db/entities/webhooks.js';
import { webhookWorkflowId, type WebhookWorkflowInput } from '../temporal/contracts.js';
import { behindIdSql, inStates, readOwned, type WaitingSource, type WantedWorkflow } from '../temporal/waiting.js';

/** How the bridge to Temporal sees webhook endpoints: each has a workflow until it is deleted. */
export const webhookWaiting: WaitingSource = {
  resourceType: 'webhook_endpoint',
  workflowType: 'webhookEndpoint',
  taskQueue: 'webhooks',
  workflowIdOf: webhookWorkflowId,
  waiting: (reader, ids) => inStates(reader, webhookEndpoints, ids, ['enabled', 'disabled'], wanted),
  longWaiting(reader, madeBefore, after, limit) {
    const behind = behindIdSql('id', after);
    return readOwned(
      reader,
      `SELECT id, tenant_id FROM webhook_endpoints FORCE INDEX (PRIMARY)
       WHERE status<>'deleted' AND created_at<${time.literal(madeBefore)}${behind} ORDER BY id LIMIT ${Math.trunc(limit)}`,
    );
  },
};

function wanted({ id, tenantId, status, pausedAt }: WebhookEndpoint): WantedWorkflow {
  const input: WebhookWorkflowInput = { endpointId: id };
  return {
    resourceId: id,
    tenantId,
    accountId: null,
    status: pausedAt === null ? status : 'paused',
    workflowId: webhookWorkflowId(id),
    summary: 'Deliveries to a webhook endpoint',
    input,
  };
}
