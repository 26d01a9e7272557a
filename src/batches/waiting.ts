import { time, uuid } from '../db/columns.js';
import { type BatchStatus, type BonusBatch, bonusBatches } from '../db/entities/bonuses.js';
import { literals } from '../db/statements.js';
import { batchWorkflowId, type BatchWorkflowInput } from '../temporal/contracts.js';
import type { WaitingSource, WantedWorkflow } from '../temporal/waiting.js';

/** A `ready` one waits for whoever executes it. */
const UNFINISHED: readonly BatchStatus[] = ['validating', 'ready', 'executing'];

/** How the bridge to Temporal sees batches that are not finished. */
export const batchWaiting: WaitingSource = {
  resourceType: 'bonus_batch',
  workflowType: 'bonusBatch',
  taskQueue: 'batches',
  workflowIdOf: batchWorkflowId,
  async waiting(reader, ids) {
    const rows = await reader.select(bonusBatches, { id: ids, status: UNFINISHED });
    return new Map(rows.map((row) => [row.id, wanted(row)]));
  },
  async longWaiting(reader, madeBefore, after, limit) {
    const behind = after === null ? '' : ` AND id>${uuid.literal(after)}`;
    const rows = await reader.query(
      `SELECT id, tenant_id FROM bonus_batches FORCE INDEX (by_status)
       WHERE status IN (${literals(bonusBatches, 'status', UNFINISHED)}) AND created_at<${time.literal(madeBefore)}${behind}
       ORDER BY id LIMIT ${Math.trunc(limit)}`,
    );
    return rows.map((row) => ({ id: uuid.parse(row.id), tenantId: uuid.parse(row.tenant_id) }));
  },
};

function wanted({ id, tenantId, sourceAccountId, status, fileBytes }: BonusBatch): WantedWorkflow {
  const input: BatchWorkflowInput = { batchId: id };
  return {
    resourceId: id,
    tenantId,
    accountId: sourceAccountId,
    status,
    workflowId: batchWorkflowId(id),
    summary: `Batch of bonuses from a file of ${Math.ceil(fileBytes / 1024)} KiB`,
    input,
  };
}
