import { setTimeout as sleep } from 'node:timers/promises';
import { lockAccount } from '../accounts/access.js';
import { readLimitState } from '../operations/limits.js';
import { indexBatchSql } from '../operations/search-words.js';
import type { Refusal } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import { uuid } from '../db/columns.js';
import type { DatabaseDeps, Reader } from '../db/database.js';
import {
  type Batch,
  batches,
  type BatchRow,
  batchRows,
  batchStorage,
} from '../db/entities/batches.js';
import { accounts } from '../db/entities/parties.js';
import { isUnavailable } from '../db/failures.js';
import { literal, updateSql } from '../db/statements.js';
import { transact } from '../db/reader.js';
import { appendEvents } from '../ledger/event-log.js';
import type { LedgerWriter } from '../ledger/writer/ledger-writer.js';
import { GenerationSuperseded } from '../spreadsheets/generated-files.js';
import { NOT_NOW } from './decide.js';
import { type BatchFiles, completeFiles } from './files.js';
import type { BatchKinds } from './kind.js';
import { isPaused, isSettled, unsettledDebit } from './rules.js';
import { batchEvent } from './schemas.js';
import type { BatchWatch } from './validation/validate-batch.js';

interface PaidGroup {
  readonly tried: number;
  readonly settled: number;
  readonly unknown: number;
}

/** `unavailable`: rows are still open, so try later. `interrupted`: `until` or `signal` was aborted. */
export type PaymentEnd = 'over' | 'paused' | 'interrupted' | 'unavailable';

const ROWS_PER_GROUP = 100;
/** Lets other postings use the accounts. (docs/decisions/0009-a-batch-row-is-a-command.md) */
const PAUSE_MS = 2;

interface NextGroup {
  readonly batch: Batch | undefined;
  readonly rows: readonly BatchRow[];
  /** Whether rows may be paid in any order, because funds and month's allowance cover all rows. */
  readonly isOrderFree: boolean;
  /** Last row of the previous group. Null at the first open row. */
  readonly follows: number | null;
}

const NOTHING: PaidGroup = { tried: 0, settled: 0, unknown: 0 };

interface ExecutionDeps extends EndingDeps {
  readonly kinds: BatchKinds;
  readonly writer: LedgerWriter;
}

/** Pays the rows of executing batches. Calls may be repeated, late or concurrent. */
export class BatchExecution {
  private readonly reader: Reader;

  constructor(private readonly deps: ExecutionDeps) {
    this.reader = deps.database.reader;
  }

  /** Stops after the current groups if `until` is aborted. Only `signal` stops the result file. */
  async pay(batchId: Uuid, { signal, heartbeat }: BatchWatch, until = signal): Promise<PaymentEnd> {
    let [settled, unknown] = [0, 0];
    let next = await this.nextGroup(batchId, ROWS_PER_GROUP, 0);
    for (;;) {
      const last = next.rows.at(-1);
      if (until.aborted || last === undefined) {
        if (next.batch?.status !== 'executing') return 'over';
        if (isPaused(next.batch)) return 'paused';
        if (isSettled(next.batch)) return this.end(next.batch, signal);
        if (until.aborted) return 'interrupted';
        // Another process may be paying earlier rows, or their result is unknown.
        if (unknown > 0 || next.follows === null) return 'unavailable';
        next = await this.nextGroup(batchId, ROWS_PER_GROUP, 0);
        continue;
      }
      const [group, following] = await Promise.all([
        this.payRows(next),
        this.nextGroup(batchId, ROWS_PER_GROUP, last.number),
      ]);
      settled += group.settled;
      unknown += group.unknown;
      heartbeat(settled);
      const isInOrder = following.rows.length > 0 && !following.isOrderFree;
      // If the funds or the month's allowance may run out, no row may overtake an unknown one.
      if (group.unknown === group.tried || (unknown > 0 && isInOrder)) return 'unavailable';
      // Some rows were too early, or another process settled them. Continue at the first open row.
      const isBehind = isInOrder && group.settled < group.tried;
      next = isBehind ? await this.nextGroup(batchId, ROWS_PER_GROUP, 0) : following;
      await sleep(PAUSE_MS);
    }
  }

  private async end(batch: Batch, signal: AbortSignal): Promise<PaymentEnd> {
    try {
      await endExecution(this.deps, batch, signal);
      return 'over';
    } catch (failure) {
      if (signal.aborted) return 'interrupted';
      if (isUnavailable(failure) || failure instanceof GenerationSuperseded) return 'unavailable';
      throw failure;
    }
  }

  async payNextGroup(batchId: Uuid, maxRows: number): Promise<PaidGroup> {
    return this.payRows(await this.nextGroup(batchId, maxRows, 0));
  }

  private async payRows({ batch, rows, isOrderFree, follows }: NextGroup): Promise<PaidGroup> {
    if (batch === undefined || rows.length === 0) return NOTHING;
    const open = rows.map((row, index) => ({
      batch,
      row,
      follows: isOrderFree ? null : (rows[index - 1]?.number ?? follows),
    }));
    const { writer, kinds } = this.deps;
    const results = await kinds[batch.kind].payRows({ reader: this.reader, writer }, open);
    const count = (matches: (refusal: Refusal) => boolean): number =>
      results.filter(({ outcome }) => !outcome.done && matches(outcome.refusal)).length;
    const unknown = count(({ code }) => code === 'ledger_unavailable');
    return {
      tried: rows.length,
      settled: rows.length - unknown - count((refusal) => refusal === NOT_NOW),
      unknown,
    };
  }

  private async nextGroup(batchId: Uuid, limit: number, after: number): Promise<NextGroup> {
    const batch = await this.reader.find(batches, { id: batchId });
    const follows = after === 0 ? null : after;
    if (batch?.status !== 'executing' || isPaused(batch))
      return { batch, rows: [], isOrderFree: false, follows };
    const [rows, isOrderFree] = await Promise.all([
      this.pendingRows(batchId, after, limit),
      this.isOrderFree(batch),
    ]);
    return { batch, rows, isOrderFree, follows };
  }

  private async isOrderFree(batch: Batch): Promise<boolean> {
    if (batch.canceledAt !== null) return true;
    if (!batch.isHeld) return false;
    const source = await this.reader.find(accounts, { id: batch.sourceAccountId });
    if (source === undefined) return false;
    const limits = await readLimitState(this.reader, source, this.deps.clock());
    const own = limits.find(({ asset }) => asset === batch.asset);
    return own !== undefined && own.used + unsettledDebit(batch) <= own.limits.month;
  }

  private async pendingRows(batchId: Uuid, after: number, limit: number): Promise<BatchRow[]> {
    // Settled rows leave dead index entries behind, so reading starts where the last group ended.
    return this.reader.list(
      batchRows,
      `FORCE INDEX (status)
       WHERE batch_id=${literal(batchRows, 'batchId', batchId)} AND status='pending' AND number>${Math.trunc(after)}
       ORDER BY number LIMIT ${Math.trunc(limit)}`,
    );
  }
}

interface EndingDeps extends DatabaseDeps {
  readonly baseUrl: string;
  readonly files: BatchFiles;
}

/** Generates the result file, then sets the status and adds the event in one transaction. */
async function endExecution(
  { database, clock, baseUrl, files }: EndingDeps,
  batch: Batch,
  signal: AbortSignal,
): Promise<void> {
  const { id } = batch;
  const generated = await files.generateIfPossible('result', batch, signal);
  await transact(database, async (transaction) => {
    if (generated !== null) await completeFiles(transaction, generated);
    // The lock of the account protects the batch. It is acquired last, to hold it briefly.
    await lockAccount(transaction, batch.sourceAccountId);
    const settled = await transaction.find(batches, { id }, { forUpdate: true });
    if (settled === undefined || !isSettled(settled))
      throw new GenerationSuperseded('another process has ended the batch');
    const at = clock();
    const status = settled.rowsFailed === 0 ? 'completed' : 'partially_failed';
    const end = {
      status,
      finishedAt: at,
      filesGeneratedAt: generated === null ? null : at,
    } as const;
    const event = batchEvent(status, { ...settled, ...end }, baseUrl);
    const unpaidRows = settled.rowsFailed;
    const unpaid = updateSql(batchStorage, { unpaidRows }, { batchId: id });
    const words = batch.kind === 'payout' ? [indexBatchSql(id)] : [];
    await appendEvents(transaction, [event], at, [
      updateSql(batches, end, { id }),
      unpaid,
      ...words,
    ]);
  });
}

const BATCHES_AT_A_TIME = 20;

/** Generates files that ended batches lack after a failure. Tries all before it throws. */
export async function generateMissingFiles(deps: MissingFilesDeps, signal: AbortSignal) {
  const faults: unknown[] = [];
  for (let older = ''; !signal.aborted;) {
    const found = await deps.database.reader.query(
      `SELECT s.batch_id FROM batch_storage s FORCE INDEX (without_files) JOIN batches b ON b.id=s.batch_id
       WHERE s.rows_removed_at IS NULL AND s.csv_bytes IS NULL${older}
         AND (b.status IN ('completed','partially_failed') OR (b.status='rejected' AND b.rejection_code IS NULL))
       ORDER BY s.batch_id DESC LIMIT ${BATCHES_AT_A_TIME}`,
    );
    const ids = found.map((row) => uuid.parse(row.batch_id));
    for (const id of ids)
      await generateForBatch(deps, id, signal).catch((fault: unknown) => {
        if (!(fault instanceof GenerationSuperseded)) faults.push(fault);
      });
    const last = ids.at(-1);
    if (last === undefined || ids.length < BATCHES_AT_A_TIME) break;
    older = ` AND s.batch_id<${uuid.literal(last)}`;
  }
  const [first] = faults;
  if (first !== undefined)
    throw first instanceof Error
      ? first
      : new Error('files could not be generated', { cause: first });
}

type MissingFilesDeps = Omit<EndingDeps, 'baseUrl'>;

async function generateForBatch(
  { database, clock, files }: MissingFilesDeps,
  id: Uuid,
  signal: AbortSignal,
): Promise<void> {
  const batch = await database.reader.find(batches, { id });
  if (batch === undefined) return;
  const generated = await files.generate(
    batch.status === 'rejected' ? 'errors' : 'result',
    batch,
    signal,
  );
  await transact(database, async (transaction) => {
    await completeFiles(transaction, generated);
    await transaction.execute(updateSql(batches, { filesGeneratedAt: clock() }, { id }));
  });
}
