import { formatAmount } from '../core/amount.js';
import { type Transfer, transfers } from '../db/entities/operations.js';
import { time } from '../db/columns.js';
import { type ApprovalWorkflowInput, transferWorkflowId } from '../temporal/contracts.js';
import { behindIdSql, inStates, readOwned, type WaitingSource, type WantedWorkflow } from '../temporal/waiting.js';

/** By their holds, of which there are few: the table itself may have many millions of rows. */
export const WAITING_TRANSFERS = `holds h FORCE INDEX (expiring) STRAIGHT_JOIN transfers t ON t.id=h.resource_id
  WHERE h.resource_type='transfer'`;

/** How the bridge to Temporal sees transfers that wait for approval. */
export const transferWaiting: WaitingSource = {
  resourceType: 'transfer',
  workflowType: 'transfer',
  taskQueue: 'approvals',
  workflowIdOf: transferWorkflowId,
  waiting: (reader, ids) => inStates(reader, transfers, ids, ['pending_approval'], wanted),
  longWaiting(reader, madeBefore, after, limit) {
    const behind = behindIdSql('t.id', after);
    return readOwned(
      reader,
      `SELECT t.id, t.tenant_id FROM ${WAITING_TRANSFERS} AND h.expires_at IS NOT NULL AND t.status='pending_approval'
       AND t.created_at<${time.literal(madeBefore)}${behind} ORDER BY t.id LIMIT ${Math.trunc(limit)}`,
    );
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
