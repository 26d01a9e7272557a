import { time, uuid } from '../db/columns.js';
import { type BatchStatus, type BonusBatch, bonusBatches } from '../db/entities/bonuses.js';
import { literals } from '../db/statements.js';
import { batchWorkflowId, type BatchWorkflowInput } from '../temporal/contracts.js';
import { inStates, type WaitingSource, type WantedWorkflow } from '../temporal/waiting.js';
import { HAS_TURN_SQL } from './validation/line.js';

/** A `ready` one waits for whoever executes it. */
const UNFINISHED: readonly BatchStatus[] = ['validating', 'ready', 'executing'];

/** How the bridge to Temporal sees batches that are not finished. */
export const batchWaiting: WaitingSource = {
  resourceType: 'bonus_batch',
  workflowType: 'bonusBatch',
  taskQueue: 'batches',
  workflowIdOf: batchWorkflowId,
  async waiting(reader, ids) {
    const rows = await inStates(reader, bonusBatches, ids, UNFINISHED);
    return new Map(rows.map((row) => [row.id, wanted(row)]));
  },
  async longWaiting(reader, madeBefore, after, limit) {
    const behind = after === null ? '' : ` AND b.id>${uuid.literal(after)}`;
    const rows = await reader.query(
      `SELECT b.id, b.tenant_id FROM bonus_batches b FORCE INDEX (by_status)
       WHERE b.status IN (${literals(bonusBatches, 'status', UNFINISHED)}) AND b.created_at<${time.literal(madeBefore)}${behind}
         AND ${HAS_TURN_SQL}
       ORDER BY b.id LIMIT ${Math.trunc(limit)}`,
    );
    return rows.map((row) => ({ id: uuid.parse(row.id), tenantId: uuid.parse(row.tenant_id) }));
  },
};

function wanted({ id, tenantId, sourceAccountId, status, fileBytes }: BonusBatch): WantedWorkflow {
  const input: BatchWorkflowInput = { batchId: id, status };
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
