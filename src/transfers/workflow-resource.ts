import { formatAmount } from '../core/amount.js';
import { transfers } from '../db/entities/operations.js';
import {
  type ApprovalWorkflowInput,
  type ResourceInput,
  transferWorkflowId,
} from '../temporal/contracts.js';
import { workflowResource } from '../temporal/workflow-resources.js';
import { counted } from '../core/plural.js';

/** FROM and WHERE for transfers with a hold. Holds are few, so the search begins with them. */
export const WAITING_TRANSFERS = `holds h FORCE INDEX (expiring) STRAIGHT_JOIN transfers t ON t.id=h.resource_id
  WHERE h.resource_type='transfer'`;

export const transferWorkflowResource = workflowResource({
  resourceType: 'transfer',
  workflowType: 'transfer',
  taskQueue: 'approvals',
  workflowIdOf: transferWorkflowId,
  table: transfers,
  states: ['pending_approval'],
  from: `${WAITING_TRANSFERS} AND h.expires_at IS NOT NULL AND t.status='pending_approval'`,
  about: (transfer) => ({
    amount: formatAmount(transfer),
    summary: `Transfer of ${formatAmount(transfer)} that needs ${counted(transfer.approvalsRequired ?? 0, 'approval')}`,
    input: {
      resourceId: transfer.id,
      tenantId: transfer.tenantId,
    } satisfies ResourceInput<ApprovalWorkflowInput>,
  }),
});
