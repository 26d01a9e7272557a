import { time, uuid } from '../db/columns.js';
import { type WebhookEndpoint, webhookEndpoints } from '../db/entities/webhooks.js';
import { webhookWorkflowId, type WebhookWorkflowInput } from '../temporal/contracts.js';
import { inStates, type WaitingSource, type WantedWorkflow } from '../temporal/waiting.js';

/** How the bridge to Temporal sees webhook endpoints: each has a workflow until it is deleted. */
export const webhookWaiting: WaitingSource = {
  resourceType: 'webhook_endpoint',
  workflowType: 'webhookEndpoint',
  taskQueue: 'webhooks',
  workflowIdOf: webhookWorkflowId,
  async waiting(reader, ids) {
    const rows = await inStates(reader, webhookEndpoints, ids, ['enabled', 'disabled']);
    return new Map(rows.map((row) => [row.id, wanted(row)]));
  },
  async longWaiting(reader, madeBefore, after, limit) {
    const behind = after === null ? '' : ` AND id>${uuid.literal(after)}`;
    const rows = await reader.query(
      `SELECT id, tenant_id FROM webhook_endpoints FORCE INDEX (PRIMARY)
       WHERE status<>'deleted' AND created_at<${time.literal(madeBefore)}${behind} ORDER BY id LIMIT ${Math.trunc(limit)}`,
    );
    return rows.map((row) => ({ id: uuid.parse(row.id), tenantId: uuid.parse(row.tenant_id) }));
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
