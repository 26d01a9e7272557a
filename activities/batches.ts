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
  service: BatchWorkflowService,
  signals: StaffSignals,
  stopping: AbortSignal,
) {
  const withHeartbeats = async <T>(work: (watch: BatchWatch) => Promise<T>): Promise<T> => {
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
    readBatch: (batchId: string) => orGone(service.state(asUuid(batchId)), goneBatch),
    /** Reads the whole file, and generates the errors file. */
    validateBatch: (batchId: string) =>
      withHeartbeats((watch) => orGone(service.validate(asUuid(batchId), watch), goneBatch)),
    /** Pays rows for some seconds. After the last row, generates the result file. */
    payBatch: (batchId: string) =>
      withHeartbeats((watch): Promise<BatchPayment> => {
        const until = AbortSignal.any([watch.signal, AbortSignal.timeout(PAY_MS)]);
        return orGone(service.pay(asUuid(batchId), watch, until), () => ({
          state: goneBatch(),
          end: 'over',
        }));
      }),
    /** Returns why the action was refused, or null. */
    actOnBatch: (signal: BatchActionSignal): Promise<string | null> =>
      orGone(service.performSignal(signal, signals), () => GONE_REASON),
  };
}
export type BatchActivities = ReturnType<typeof batchActivities>;

const RETRY_MS = 1_000;
const RETRY_MS_PER_REFUSAL = 500;
const MAX_RETRY_MS = 60_000;

/** Returns a failure that Temporal retries later, so that a waiting batch occupies no slot. */
function retryLater({ message, name, previousRefusals }: LimitReached): ApplicationFailure {
  const nextRetryDelay = Math.min(MAX_RETRY_MS, RETRY_MS + previousRefusals * RETRY_MS_PER_REFUSAL);
  return ApplicationFailure.create({
    message,
    type: name,
    nextRetryDelay,
    category: ApplicationFailureCategory.BENIGN,
  });
}
