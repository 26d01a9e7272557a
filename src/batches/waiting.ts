import { time } from '../db/columns.js';
import { type BatchStatus, type BonusBatch, bonusBatches } from '../db/entities/bonuses.js';
import { literals } from '../db/statements.js';
import { batchWorkflowId, type BatchWorkflowInput } from '../temporal/contracts.js';
import { behindIdSql, inStates, readOwned, type WaitingSource, type WantedWorkflow } from '../temporal/waiting.js';
import { HAS_TURN_SQL } from './validation/line.js';

/** A `ready` one waits to be executed. */
const UNFINISHED: readonly BatchStatus[] = ['validating', 'ready', 'executing'];

/** How the bridge to Temporal sees batches that are not finished. */
export const batchWaiting: WaitingSource = {
  resourceType: 'bonus_batch',
  workflowType: 'bonusBatch',
  taskQueue: 'batches',
  workflowIdOf: batchWorkflowId,
  waiting: (reader, ids) => inStates(reader, bonusBatches, ids, UNFINISHED, wanted),
  longWaiting(reader, madeBefore, after, limit) {
    const behind = behindIdSql('b.id', after);
    return readOwned(
      reader,
      `SELECT b.id, b.tenant_id FROM bonus_batches b FORCE INDEX (by_status)
       WHERE b.status IN (${literals(bonusBatches, 'status', UNFINISHED)}) AND b.created_at<${time.literal(madeBefore)}${behind}
         AND ${HAS_TURN_SQL}
       ORDER BY b.id LIMIT ${Math.trunc(limit)}`,
    );
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
