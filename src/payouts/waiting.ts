import { formatAmount } from '../core/amount.js';
import { time, uuid } from '../db/columns.js';
import { type Payout, payouts } from '../db/entities/payouts.js';
import { literals } from '../db/statements.js';
import { type PayoutWorkflowInput, payoutWorkflowId } from '../temporal/contracts.js';
import { inStates, type WaitingSource, type WantedWorkflow } from '../temporal/waiting.js';
import { UNFINISHED } from './rules.js';

/** Soon at first, since most rails answer within seconds; then a question every ten minutes, for as long as it takes. */
const POLLING = { firstMs: 1_000, longestMs: 600_000 } as const;

/** How the bridge to Temporal sees payouts that have not come to an end. */
export const payoutWaiting: WaitingSource = {
  resourceType: 'payout',
  workflowType: 'payout',
  taskQueue: 'payouts',
  workflowIdOf: payoutWorkflowId,
  async waiting(reader, ids) {
    const rows = await inStates(reader, payouts, ids, UNFINISHED);
    return new Map(rows.map((row) => [row.id, wanted(row)]));
  },
  async longWaiting(reader, madeBefore, after, limit) {
    const behind = after === null ? '' : ` AND id>${uuid.literal(after)}`;
    // All that are unfinished, by an index that begins with the status: the table itself may hold many millions.
    const rows = await reader.query(
      `SELECT id, tenant_id FROM payouts FORCE INDEX (expiring)
       WHERE status IN (${literals(payouts, 'status', UNFINISHED)}) AND created_at<${time.literal(madeBefore)}${behind}
       ORDER BY id LIMIT ${Math.trunc(limit)}`,
    );
    return rows.map((row) => ({ id: uuid.parse(row.id), tenantId: uuid.parse(row.tenant_id) }));
  },
};

function wanted(payout: Payout): WantedWorkflow {
  const { id, tenantId, sourceAccountId, status, rail } = payout;
  const input: PayoutWorkflowInput = { resourceId: id, tenantId, polling: POLLING };
  return {
    resourceId: id,
    tenantId,
    accountId: sourceAccountId,
    status,
    workflowId: payoutWorkflowId(id),
    summary: `Payout of ${formatAmount(payout)} over the rail ${rail}`,
    input,
  };
}
