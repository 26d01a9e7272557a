import { type BatchStatus, bonusBatches } from '../db/entities/bonuses.js';
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

export const batchResource = workflowResource({
  resourceType: 'bonus_batch',
  workflowType: 'bonusBatch',
  taskQueue: 'batches',
  workflowIdOf: batchWorkflowId,
  table: bonusBatches,
  states: UNFINISHED,
  from: `bonus_batches t FORCE INDEX (by_status)
    WHERE t.status IN (${literals(bonusBatches, 'status', UNFINISHED)}) AND ${MAY_HAVE_WORKFLOW_SQL}`,
  about: ({ id, status, fileBytes }) => ({
    summary: `Batch of bonuses from a file of ${Math.ceil(fileBytes / 1024)} KiB`,
    input: { batchId: id, status } satisfies ResourceInput<BatchWorkflowInput>,
  }),
});
