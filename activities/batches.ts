import { Context } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import { asUuid } from '../src/core/ids.js';
import { LimitReached } from '../src/core/concurrency-limit.js';
import type { BatchWatch } from '../src/batches/validation/validate-batch.js';
import type { BatchWorkflowService } from '../src/batches/workflow-service.js';
import type { StaffSignals } from '../src/staff/verification.js';
import type { BatchActionSignal, BatchPayment } from '../src/temporal/contracts.js';
import { GONE_REASON, goneBatch, orGone } from './approvals.js';

const PAY_MS = 5_000;
/** Heartbeats are also sent while a workbook's texts are read, before the first row. */
const BEAT_MS = 2_000;

/** Temporal may run each activity twice or late: the rows' states decide what it does. */
export function batchActivities(
  work: BatchWorkflowService,
  signals: StaffSignals,
  stopping: AbortSignal,
) {
  const watched = async <T>(work: (watch: BatchWatch) => Promise<T>): Promise<T> => {
    const context = Context.current();
    let rows = 0;
    const beat = setInterval(() => context.heartbeat(rows), BEAT_MS);
    const signal = AbortSignal.any([context.cancellationSignal, stopping]);
    try {
      return await work({ signal, heartbeat: (count) => (rows = count) });
    } catch (failure) {
      throw failure instanceof LimitReached ? retryLater(failure) : failure;
    } finally {
      clearInterval(beat);
    }
  };
  return {
    readBatch: (batchId: string) => orGone(work.state(asUuid(batchId)), goneBatch),
    /** Reads the whole file, and generates the errors file. */
    validateBatch: (batchId: string) =>
      watched((watch) => orGone(work.validate(asUuid(batchId), watch), goneBatch)),
    /** Pays rows for some seconds. After the last row, generates the result file. */
    payBatch: (batchId: string) =>
      watched((watch): Promise<BatchPayment> => {
        const until = AbortSignal.any([watch.signal, AbortSignal.timeout(PAY_MS)]);
        return orGone(work.pay(asUuid(batchId), watch, until), () => ({
          state: goneBatch(),
          end: 'over',
        }));
      }),
    /** Returns why the action was refused, or null. */
    actOnBatch: (signal: BatchActionSignal): Promise<string | null> =>
      orGone(work.performSignal(signal, signals), () => GONE_REASON),
  };
}
export type BatchActivities = ReturnType<typeof batchActivities>;

const RETRY_MS = 1_000;
const RETRY_EACH_MS = 500;
const MAX_RETRY_MS = 60_000;

/** Retries the waiting batches of a tenant one after another, without using a slot. */
function retryLater({ message, name, previousRefusals }: LimitReached): ApplicationFailure {
  const nextRetryDelay = Math.min(MAX_RETRY_MS, RETRY_MS + previousRefusals * RETRY_EACH_MS);
  return ApplicationFailure.create({
    message,
    type: name,
    nextRetryDelay,
    category: ApplicationFailureCategory.BENIGN,
  });
}
