import { formatAmount } from '../core/amount.js';
import { type BatchStatus, type BonusBatch, bonusBatches } from '../db/entities/bonuses.js';
import { literals } from '../db/statements.js';
import {
  batchWorkflowId,
  type BatchWorkflowInput,
  type ResourceInput,
} from '../temporal/contracts.js';
import { workflowResource } from '../temporal/workflow-resources.js';
import { MAY_HAVE_WORKFLOW_SQL } from './validation/tenant-queue.js';

/** Includes `ready`, which waits for execution. */
const UNFINISHED: readonly BatchStatus[] = ['validating', 'ready', 'executing'];

/** The formatted total, or null until the file has been validated. */
export function totalText({ asset, totalRaw: raw }: BonusBatch): string | null {
  return asset === null ? null : formatAmount({ raw, asset });
}

export const batchWorkflowResource = workflowResource({
  resourceType: 'bonus_batch',
  workflowType: 'bonusBatch',
  taskQueue: 'batches',
  workflowIdOf: batchWorkflowId,
  table: bonusBatches,
  states: UNFINISHED,
  from: `bonus_batches t FORCE INDEX (by_status)
    WHERE t.status IN (${literals(bonusBatches, 'status', UNFINISHED)}) AND ${MAY_HAVE_WORKFLOW_SQL}`,
  about: (batch) => ({
    amount: totalText(batch),
    summary: `Batch of bonuses from a file of ${Math.ceil(batch.fileBytes / 1024)} KiB`,
    input: { batchId: batch.id, status: batch.status } satisfies ResourceInput<BatchWorkflowInput>,
  }),
});
