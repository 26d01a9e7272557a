import { Context } from '@temporalio/activity';
import { asUuid } from '../src/core/ids.js';
import type { BatchService } from '../src/batches/work.js';
import type { BatchAct, BatchPayment, BatchState } from '../src/temporal/contracts.js';

/** What the workflow of a batch has done. The rows' states in MySQL are the guard: twice or late does no harm. */
export interface BatchActivities {
  readBatch(batchId: string): Promise<BatchState>;
  /** Reads the whole file; begins from its first row whenever it is called. */
  validateBatch(batchId: string): Promise<BatchState>;
  /** Pays for some seconds, then tells how far it came. */
  payBatch(batchId: string): Promise<BatchPayment>;
  /** Answers why it was refused, or null. */
  actOnBatch(act: BatchAct): Promise<string | null>;
}

/** So often the UI hears how far a batch is. */
const PAY_MS = 5_000;

export function batchActivities(work: BatchService, stopping: AbortSignal): BatchActivities {
  const watch = (limitMs?: number) => {
    const context = Context.current();
    const signals = [context.cancellationSignal, stopping];
    if (limitMs !== undefined) signals.push(AbortSignal.timeout(limitMs));
    return { signal: AbortSignal.any(signals), heartbeat: (rows: number) => context.heartbeat(rows) };
  };
  return {
    readBatch: (batchId) => work.state(asUuid(batchId)),
    validateBatch: (batchId) => work.validate(asUuid(batchId), watch()),
    payBatch: (batchId) => work.pay(asUuid(batchId), watch(PAY_MS)),
    actOnBatch: (act) => work.actBySignal(act),
  };
}
