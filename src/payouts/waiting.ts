import { formatAmount } from '../core/amount.js';
import { time } from '../db/columns.js';
import { type Payout, payouts } from '../db/entities/payouts.js';
import { literals } from '../db/statements.js';
import { type PayoutWorkflowInput, payoutWorkflowId } from '../temporal/contracts.js';
import { behindIdSql, inStates, readOwned, type WaitingSource, type WantedWorkflow } from '../temporal/waiting.js';
import { UNFINISHED } from './rules.js';

/** Soon at first, since most rails answer within seconds; in the end every ten minutes, for as long as it takes. */
const POLLING = { firstMs: 1_000, longestMs: 600_000 } as const;

/** How the bridge to Temporal sees payouts that have not ended. */
export const payoutWaiting: WaitingSource = {
  resourceType: 'payout',
  workflowType: 'payout',
  taskQueue: 'payouts',
  workflowIdOf: payoutWorkflowId,
  waiting: (reader, ids) => inStates(reader, payouts, ids, UNFINISHED, wanted),
  longWaiting(reader, madeBefore, after, limit) {
    const behind = behindIdSql('id', after);
    // All unfinished ones, by an index that begins with the status: the table itself may have many millions of rows.
    return readOwned(
      reader,
      `SELECT id, tenant_id FROM payouts FORCE INDEX (expiring)
       WHERE status IN (${literals(payouts, 'status', UNFINISHED)}) AND created_at<${time.literal(madeBefore)}${behind}
       ORDER BY id LIMIT ${Math.trunc(limit)}`,
    );
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
