import type { Registry } from 'prom-client';
import type { RecipientBudget } from '../accounts/recipient-budget.js';
import type { ConcurrencyLimit } from '../core/concurrency-limit.js';
import { assertFound } from '../core/errors.js';
import { asUuid, type Uuid } from '../core/ids.js';
import { metersOf } from '../core/meters.js';
import type { DatabaseDeps } from '../db/database.js';
import {
  type Batch,
  type BatchKindName,
  type BatchStatus,
  batches,
} from '../db/entities/batches.js';
import type { LedgerWriter } from '../ledger/writer/ledger-writer.js';
import type { SheetReaders } from '../spreadsheets/worker-thread/sheet-readers.js';
import type { StaffSignals } from '../staff/verification.js';
import {
  type BatchActionSignal,
  type BatchPayment,
  type BatchState,
  type BatchWorkflowInput,
  type ResourceInput,
  WORKFLOW_ID_OF,
} from '../temporal/contracts.js';
import type { OutboxNotifier } from '../temporal/relay.js';
import { formatAmount } from '../core/amount.js';
import { literal, literals } from '../db/statements.js';
import { type WorkflowResource, workflowResource } from '../temporal/workflow-resources.js';
import { performBatchAction } from './control.js';
import { BatchExecution, generateMissingFiles } from './execution.js';
import { BatchFiles } from './files.js';
import type { BatchKinds } from './kind.js';
import { batchType, isPaused, MAX_ROWS } from './rules.js';
import { validateBatch, type BatchWatch } from './validation/validate-batch.js';

export interface BatchWorkflowDeps extends DatabaseDeps {
  readonly kinds: BatchKinds;
  readonly recipientBudget: RecipientBudget;
  readonly writer: LedgerWriter;
  readonly baseUrl: string;
  readonly notifier: Pick<OutboxNotifier, 'notify'>;
  readonly sheets: Pick<SheetReaders, 'rows'>;
  /** Limits of batches at a time, per tenant and in total. */
  readonly limits: { readonly validating: ConcurrencyLimit; readonly paying: ConcurrencyLimit };
  readonly onRows?: (step: RowStep, rows: number) => void;
}

/** Steps of a batch's workflow. Every method may be repeated or late. */
export class BatchWorkflowService {
  private readonly deps: BatchWorkflowDeps & { readonly files: BatchFiles };
  private readonly execution: BatchExecution;

  constructor(deps: BatchWorkflowDeps) {
    this.deps = { ...deps, files: new BatchFiles(deps.database, deps.kinds) };
    this.execution = new BatchExecution(this.deps);
  }

  async state(batchId: Uuid): Promise<BatchState> {
    return stateOf(await this.find(batchId));
  }

  /** The caller repeats the call after `LimitReached` and `DatabaseUnavailable`. */
  validate(batchId: Uuid, watch: BatchWatch): Promise<BatchState> {
    const { sheets, limits } = this.deps;
    const deps = { ...this.deps, maxRows: MAX_ROWS, openSheet: sheets.rows.bind(sheets) };
    const counting = this.countingWatch('validated', watch);
    return this.withinLimit(limits.validating, batchId, async () =>
      stateOf(assertFound(await validateBatch(deps, batchId, counting))),
    );
  }

  /** Pays rows until `until` is aborted or all are settled. */
  pay(batchId: Uuid, watch: BatchWatch, until = watch.signal): Promise<BatchPayment> {
    return this.withinLimit(this.deps.limits.paying, batchId, async () => {
      const end = await this.execution.pay(batchId, this.countingWatch('settled', watch), until);
      return { end, state: await this.state(batchId) };
    });
  }

  /** Returns a watch that also counts the rows for the metric. */
  private countingWatch(step: RowStep, watch: BatchWatch): BatchWatch {
    let counted = 0;
    const heartbeat = (rows: number): void => {
      if (rows > counted) this.deps.onRows?.(step, rows - counted);
      counted = rows;
      watch.heartbeat(rows);
    };
    return { ...watch, heartbeat };
  }

  generateMissingFiles(signal: AbortSignal): Promise<void> {
    return generateMissingFiles(this.deps, signal);
  }

  private async withinLimit<T>(
    limit: ConcurrencyLimit,
    batchId: Uuid,
    work: () => Promise<T>,
  ): Promise<T> {
    const leave = limit.take((await this.find(batchId)).tenantId);
    try {
      return await work();
    } finally {
      leave();
    }
  }

  /** Returns the reason if the action of a signal was refused, or else null. */
  async performSignal(
    signal: BatchActionSignal,
    signals: Pick<StaffSignals, 'verify'>,
  ): Promise<string | null> {
    const { action } = signal;
    const [batchId, actionId] = [asUuid(signal.batchId), asUuid(signal.actionId)];
    const batch = await this.find(batchId);
    const type = batchType(batch);
    const subject = { tenantId: batch.tenantId, subjectType: type, subjectId: batchId };
    const signed = await signals.verify(`${type}.${action}`, signal, subject);
    if ('refused' in signed) return signed.refused;
    const result = await performBatchAction(this.deps, { batchId, action, ...signed, actionId });
    return 'refusal' in result ? result.refusal.message : null;
  }

  private async find(id: Uuid): Promise<Batch> {
    return assertFound(await this.deps.database.reader.find(batches, { id }));
  }
}

function stateOf(batch: Batch): BatchState {
  const { status, rowCount, rowsRejected, rowsPaid, rowsFailed, pauseReason } = batch;
  return {
    status,
    amount: totalText(batch),
    rows: rowCount,
    rejected: rowsRejected,
    paid: rowsPaid,
    failed: rowsFailed,
    isPaused: isPaused(batch),
    pauseReason,
    rejection: batch.rejectionCode,
  };
}

type RowStep = 'validated' | 'settled';

export function rowMetrics(registry: Registry): (step: RowStep, rows: number) => void {
  const rows = metersOf(registry).counter(
    'batch_rows_total',
    'Batch rows read and checked (validated), or paid or refused (settled)',
    ['step'],
  );
  for (const step of ['validated', 'settled'] as const) rows.inc({ step }, 0);
  return (step, count) => rows.inc({ step }, count);
}

/** Includes `ready`, which waits for execution. */
const UNFINISHED: readonly BatchStatus[] = ['validating', 'ready', 'executing'];

/** The formatted total, or null until the file has been validated. */
function totalText({ asset, totalRaw: raw }: Batch): string | null {
  return asset === null ? null : formatAmount({ raw, asset });
}

export function batchWorkflowResource(kind: BatchKindName): WorkflowResource {
  const resourceType = batchType({ kind });
  return workflowResource({
    resourceType,
    ...WORKFLOWS[kind],
    taskQueue: 'batches',
    table: batches,
    states: UNFINISHED,
    from: `batches t FORCE INDEX (by_status)
      WHERE t.kind=${literal(batches, 'kind', kind)} AND t.status IN (${literals(batches, 'status', UNFINISHED)})`,
    describe: (batch) => ({
      amount: totalText(batch),
      summary: `Batch of ${WORKFLOWS[kind].payments} from a file of ${Math.ceil(batch.fileBytes / 1024)} KiB`,
      input: {
        batchId: batch.id,
        status: batch.status,
      } satisfies ResourceInput<BatchWorkflowInput>,
    }),
  });
}

const WORKFLOWS = {
  bonus: {
    workflowType: 'bonusBatch',
    workflowIdOf: WORKFLOW_ID_OF.bonus_batch,
    payments: 'bonuses',
  },
  payout: {
    workflowType: 'payoutBatch',
    workflowIdOf: WORKFLOW_ID_OF.payout_batch,
    payments: 'payouts',
  },
} as const;
