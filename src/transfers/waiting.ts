import { formatAmount } from '../core/amount.js';
import { uuid } from '../db/columns.js';
import { type Transfer, transfers } from '../db/entities/operations.js';
import { literal } from '../db/statements.js';
import { time } from '../db/columns.js';
import { type ApprovalWorkflowInput, transferWorkflowId } from '../temporal/contracts.js';
import type { WaitingSource, WantedWorkflow } from '../temporal/waiting.js';

/** How the bridge to Temporal sees transfers that wait for approval. */
export const transferWaiting: WaitingSource = {
  resourceType: 'transfer',
  workflowType: 'transfer',
  taskQueue: 'approvals',
  workflowIdOf: transferWorkflowId,
  async waiting(reader, ids) {
    const rows = await reader.select(transfers, { id: ids, status: 'pending_approval' });
    return new Map(rows.map((row) => [row.id, wanted(row)]));
  },
  async longWaiting(reader, madeBefore, after, limit) {
    const behind = after === null ? '' : ` AND id>${uuid.literal(after)}`;
    // All that are pending, by the index of what expires: the table itself may hold many millions.
    const rows = await reader.query(
      `SELECT id, tenant_id FROM transfers FORCE INDEX (expiring)
       WHERE status=${literal(transfers, 'status', 'pending_approval')} AND created_at<${time.literal(madeBefore)}${behind}
       ORDER BY id LIMIT ${Math.trunc(limit)}`,
    );
    return rows.map((row) => ({ id: uuid.parse(row.id), tenantId: uuid.parse(row.tenant_id) }));
  },
};

function wanted(transfer: Transfer): WantedWorkflow {
  const { id, tenantId, sourceAccountId, status, approvalsRequired } = transfer;
  const input: ApprovalWorkflowInput = { resourceId: id, tenantId };
  return {
    resourceId: id,
    tenantId,
    accountId: sourceAccountId,
    status,
    workflowId: transferWorkflowId(id),
    summary: `Transfer of ${formatAmount(transfer)} that needs ${approvalsRequired ?? 0} approval(s)`,
    input,
  };
}
