import { type Actor, recordAction } from '../access/audit-log.js';
import { tryEach } from '../core/collections.js';
import { performDue, type Piece, pieceSweep, type Sweep } from '../temporal/sweeper.js';
import { ApiError } from '../core/errors.js';
import { commandFingerprint } from '../core/fingerprint.js';
import { firstIdAt, newId, type Uuid } from '../core/ids.js';
import { type Clock, instant, type Instant } from '../core/instant.js';
import { oneOf, time, uuid } from '../db/columns.js';
import type { Database, DatabaseDeps, Reader, StoredRow } from '../db/database.js';
import { Deadline } from '../core/timers.js';
import {
  BATCH_KINDS,
  type BatchKindName,
  batches,
  batchStorage,
  uploadChunks,
} from '../db/entities/batches.js';
import { columnList, deleteSql, updateSql } from '../db/statements.js';
import { transact } from '../db/reader.js';
import { removePieces } from '../spreadsheets/generated-files.js';
import { lapseCommands } from './commands.js';
import type { BatchControlDeps } from './control.js';
import { deleteSomeProblems, deleteSomeRows } from './row-storage.js';
import { batchType, READY_MS } from './rules.js';
import type { BatchWorkflowService } from './workflow-service.js';

const EVERY_MS = 600_000;
const DAY_MS = 86_400_000;

const LAPSE_EVERY_MS = 10_000;
const LAPSED_AT_ONCE = 100;

export function lapseSweep(deps: BatchControlDeps): Sweep {
  return {
    name: 'lapsed batches',
    everyMs: LAPSE_EVERY_MS,
    run: async () => (await lapseDueBatches(deps, READY_MS, LAPSED_AT_ONCE)) === LAPSED_AT_ONCE,
  };
}

export function uploadsSweep(deps: DatabaseDeps, keptDays: number): Sweep {
  return {
    name: 'uploaded files',
    everyMs: EVERY_MS,
    run: async () => {
      await deleteUploadedBytes(deps, instant(deps.clock() - keptDays * DAY_MS));
      return false;
    },
  };
}

export function rowsSweep(
  { database, clock }: DatabaseDeps,
  ended: EndedBatches,
  keptDays: number,
): Sweep {
  return pieceSweep(`rows of ${ended}`, (after) =>
    removeOldRows(database, clock, ended, instant(clock() - keptDays * DAY_MS), after),
  );
}

export function filesSweep(service: Pick<BatchWorkflowService, 'generateMissingFiles'>): Sweep {
  return {
    name: 'files of batches',
    everyMs: EVERY_MS,
    run: async (signal) => {
      await service.generateMissingFiles(signal);
      return false;
    },
  };
}

/**
 * Ends batches that were ready for too long and returns the number found by the last search. Throws
 * ledger_unavailable if some results are unknown.
 */
export async function lapseDueBatches(
  { database, writer, clock }: BatchControlDeps,
  readyForMs: number,
  limit: number,
): Promise<number> {
  const readySince = time.literal(instant(clock() - readyForMs));
  // A batch is validated after its creation, so the index on `created_at` finds all due batches.
  const find = (condition: string, count: number) =>
    database.reader.query(
      `SELECT ${columnList(batches)} FROM batches FORCE INDEX (by_status)
       WHERE status='ready' AND created_at<=${readySince} AND validated_at<=${readySince} ${condition}
       ORDER BY created_at LIMIT ${count}`,
    );
  return performDue(batches, limit, find, async (batch) => {
    const { id: batchId, tenantId, sourceAccountId } = batch;
    const { outcome } = await writer.submit(lapseCommands[batch.kind], {
      tenantId,
      key: `${batchType(batch)}/${batchId}/lapse`,
      fingerprint: commandFingerprint(['lapse', batchId]),
      batchId,
      sourceAccountId,
      outboxId: newId(),
      readyForMs,
    });
    if (!outcome.done) throw new ApiError(outcome.refusal);
  });
}

const FILES_AT_A_TIME = 100;

/**
 * Deletes the bytes of files validated before a given time, one file per transaction. An operator's
 * deletions are audited. Returns their number.
 */
export async function deleteUploadedBytes(
  { database, clock }: DatabaseDeps,
  validatedBefore: Instant,
  operator: Actor | null = null,
): Promise<number> {
  for (let deleted = 0; ;) {
    const rows = await database.reader.query(
      `SELECT c.batch_id, b.tenant_id, b.kind FROM upload_chunks c JOIN batches b ON b.id=c.batch_id
       WHERE c.number=0 AND b.validated_at<${time.literal(validatedBefore)} LIMIT ${FILES_AT_A_TIME}`,
    );
    await tryEach(rows, (row) =>
      transact(database, async (transaction) => {
        const batchId = uuid.parse(row.batch_id);
        await transaction.execute(deleteSql(uploadChunks, { batchId }));
        await transaction.execute(updateSql(batchStorage, { fileBytes: 0 }, { batchId }));
        if (operator === null) return;
        const type = batchType({ kind: oneOf(BATCH_KINDS).parse(row.kind) });
        const subject = {
          tenantId: uuid.parse(row.tenant_id),
          subjectType: type,
          subjectId: batchId,
        };
        await recordAction(transaction, operator, clock(), {
          ...subject,
          action: `${type}.delete_upload`,
        });
      }),
    );
    deleted += rows.length;
    if (rows.length < FILES_AT_A_TIME) return deleted;
  }
}

const BATCHES_AT_A_TIME = 20;
const MAX_REMOVAL_MS = 120_000;

type EndedBatches = 'unpaid batches' | 'paid batches';

function endedBeforeSql(ended: EndedBatches, before: Instant): string {
  return ended === 'unpaid batches'
    ? `b.rows_paid=0 AND b.status IN ('rejected','partially_failed') AND COALESCE(b.finished_at, b.validated_at)<${time.literal(before)}`
    : `b.rows_paid>0 AND b.status IN ('completed','partially_failed') AND b.finished_at<${time.literal(before)}`;
}

/**
 * Removes rows, problems and files of batches that ended before a given time, one batch per
 * transaction. Keeps rows that contradict their batch, for the auditor. Processes one page of batches
 * whose ids follow `after`. Returns null after the last page.
 */
export async function removeOldRows(
  database: Database,
  clock: Clock,
  ended: EndedBatches,
  before: Instant,
  after: Uuid | null,
): Promise<Piece | null> {
  const afterSql = after === null ? '' : ` AND s.batch_id>${uuid.literal(after)}`;
  const found = await database.reader.query(
    `SELECT s.batch_id, b.status, b.kind FROM batch_storage s FORCE INDEX (kept) JOIN batches b ON b.id=s.batch_id
     WHERE s.rows_removed_at IS NULL AND s.batch_id<${uuid.literal(firstIdAt(before))}${afterSql}
       AND ${endedBeforeSql(ended, before)} ORDER BY s.batch_id LIMIT ${BATCHES_AT_A_TIME}`,
  );
  const last = found.at(-1);
  if (last === undefined) return null;
  const faults: unknown[] = [];
  for (const row of found)
    await removeRowsOf(database, clock, row).catch((fault: unknown) => faults.push(fault));
  return { lastId: uuid.parse(last.batch_id), isPieceDone: true, faults };
}

async function removeRowsOf(database: Database, clock: Clock, row: StoredRow): Promise<void> {
  const batchId = uuid.parse(row.batch_id);
  const kind = oneOf(BATCH_KINDS).parse(row.kind);
  const wasExecuted = row.status !== 'rejected';
  await database.withTransaction(async (transaction) => {
    const storage = await transaction.find(batchStorage, { batchId }, { forUpdate: true });
    if (
      storage?.rowsRemovedAt !== null ||
      (wasExecuted && !(await isConfirmed(transaction, batchId, kind)))
    )
      return;
    while (await deleteSomeRows(transaction, { id: batchId, kind }));
    while (await deleteSomeProblems(transaction, { id: batchId }));
    await transaction.execute(deleteSql(uploadChunks, { batchId }));
    while (await removePieces(transaction, batchId));
    await transaction.execute(updateSql(batches, { filesGeneratedAt: null }, { id: batchId }));
    const removed = {
      fileBytes: 0,
      problemRows: 0,
      unpaidRows: 0,
      rowsRemovedAt: clock(),
      csvBytes: null,
      xlsxBytes: null,
      earlierPayments: null,
      earlierPaymentsAt: null,
    };
    await transaction.execute(updateSql(batchStorage, removed, { batchId }));
  }, Deadline.afterMs(MAX_REMOVAL_MS));
}

/** Returns whether the rows of a batch agree with its sums and its payments. */
async function isConfirmed(reader: Reader, batchId: Uuid, kind: BatchKindName): Promise<boolean> {
  const [row] = await reader.query(
    `SELECT IF(COUNT(*)=b.row_count AND SUM(r.raw)=b.total_raw AND SUM(r.fee_raw)=b.fees_raw
       AND SUM(r.status='paid')=b.rows_paid AND SUM(r.status='failed')=b.rows_failed AND COUNT(o.id)=b.rows_paid, 'yes', 'no') AS is_confirmed
     FROM batches b JOIN batch_rows r ON r.batch_id=b.id
       LEFT JOIN ${kind === 'bonus' ? 'bonuses' : 'payouts'} o ON o.id=r.payment_id AND o.batch_id=b.id AND o.batch_row=r.number AND o.raw=r.raw
     WHERE b.id=${uuid.literal(batchId)}
     GROUP BY b.id, b.row_count, b.total_raw, b.fees_raw, b.rows_paid, b.rows_failed`,
  );
  return row?.is_confirmed === 'yes';
}
