import { Context } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import { asUuid } from '../src/core/ids.js';
import { ShareTaken } from '../src/core/shares.js';
import type { Watch } from '../src/batches/validation/run.js';
import type { BatchWorkflowService } from '../src/batches/workflow-service.js';
import type { StaffSignals } from '../src/staff/signals.js';
import type { BatchAct, BatchPayment, BatchState } from '../src/temporal/contracts.js';
import { GONE_SAID, goneBatch, orGone } from './gone.js';

/** What the workflow of a batch has done. The rows' states in MySQL are the guard: twice or late does no harm. */
export interface BatchActivities {
  readBatch(batchId: string): Promise<BatchState>;
  /** Reads the whole file, and makes the errors file; begins from the first row whenever it is called. */
  validateBatch(batchId: string): Promise<BatchState>;
  /** Pays for some seconds, then tells how far it came. Behind the last row it makes the result file, however long it takes. */
  payBatch(batchId: string): Promise<BatchPayment>;
  /** Answers why it was refused, or null. */
  actOnBatch(act: BatchAct): Promise<string | null>;
}

/** So often the UI hears how far a batch is. */
const PAY_MS = 5_000;
/** Also while nothing is counted yet: a workbook's texts are read for seconds before its first row. */
const BEAT_MS = 2_000;

export function batchActivities(
  work: BatchWorkflowService,
  signals: StaffSignals,
  stopping: AbortSignal,
): BatchActivities {
  const watched = async <T>(work: (watch: Watch) => Promise<T>): Promise<T> => {
    const context = Context.current();
    let rows = 0;
    const beat = setInterval(() => context.heartbeat(rows), BEAT_MS);
    const signal = AbortSignal.any([context.cancellationSignal, stopping]);
    try {
      return await work({ signal, heartbeat: (count) => (rows = count) });
    } catch (failure) {
      throw failure instanceof ShareTaken ? putOff(failure) : failure;
    } finally {
      clearInterval(beat);
    }
  };
  return {
    readBatch: (batchId) => orGone(work.state(asUuid(batchId)), goneBatch),
    validateBatch: (batchId) => watched((watch) => orGone(work.validate(asUuid(batchId), watch), goneBatch)),
    payBatch: (batchId) =>
      watched((watch) => {
        const until = AbortSignal.any([watch.signal, AbortSignal.timeout(PAY_MS)]);
        return orGone(work.pay(asUuid(batchId), watch, until), () => ({ state: goneBatch(), end: 'over' }));
      }),
    actOnBatch: (act) => orGone(work.actBySignal(act, signals), () => GONE_SAID),
  };
}

const PUT_OFF_MS = 1_000;
const PUT_OFF_EACH_MS = 500;
const MAX_PUT_OFF_MS = 60_000;

/**
 * It comes again by itself, and until then takes no slot of the worker. Each of a tenant's comes later than the last: all of
 * a hundred together, again and again, would be more work for Temporal than what they wait for.
 */
function putOff({ message, name, before }: ShareTaken): ApplicationFailure {
  const nextRetryDelay = Math.min(MAX_PUT_OFF_MS, PUT_OFF_MS + before * PUT_OFF_EACH_MS);
  return ApplicationFailure.create({
    message,
    type: name,
    nextRetryDelay,
    category: ApplicationFailureCategory.BENIGN,
  });
}
