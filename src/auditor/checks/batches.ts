import { groupBy } from '../../core/collections.js';
import type { Uuid } from '../../core/ids.js';
import { bigint, oneOf, uuid } from '../../db/columns.js';
import type { Reader } from '../../db/database.js';
import {
  BATCH_ROW_STATUSES,
  type BatchRowStatus,
  type BonusBatch,
  bonusBatches,
  bonusBatchStorage,
} from '../../db/entities/bonuses.js';
import { rowParser } from '../../db/table.js';
import type { AuditRun, Check } from '../run.js';
import { idList, walkTable } from '../walk.js';

/** A batch may have 100,000 rows. */
const BATCHES_A_SLICE = 20;

/** Compares a batch's sums with its rows, and each paid row with its bonus. */
export const batchChecks: Check = {
  tables: ['bonus_batch_rows'],
  run: (audit) =>
    walkTable(audit, bonusBatches, BATCHES_A_SLICE, async (reader, slice) => {
      const accepted = slice.filter(
        ({ status, rejectionCode }) =>
          status !== 'validating' && (status !== 'rejected' || rejectionCode !== null),
      );
      if (accepted.length === 0) return;
      const ids = accepted.map(({ id }) => id);
      const [rows, paid] = [await sumRows(reader, ids), await countBonuses(reader, ids)];
      const stored = await reader.select(bonusBatchStorage, { batchId: ids });
      const removed = new Set(
        stored.flatMap(({ batchId, rowsRemovedAt }) => (rowsRemovedAt === null ? [] : [batchId])),
      );
      for (const batch of accepted) {
        const [own, bonuses] = [rows.get(batch.id) ?? [], paid.get(batch.id) ?? 0n];
        if (removed.has(batch.id)) checkRemoved(audit, batch, own, bonuses);
        else checkBatch(audit, batch, own, bonuses);
      }
    }),
};

const parseSums = rowParser({
  batchId: uuid,
  status: oneOf(BATCH_ROW_STATUSES),
  ownRows: bigint,
  raw: bigint,
  feeRaw: bigint,
  astray: bigint,
});
type RowSums = ReturnType<typeof parseSums>;

async function sumRows(
  reader: Reader,
  ids: readonly Uuid[],
): Promise<ReadonlyMap<Uuid, readonly RowSums[]>> {
  const text = (sum: string, name: string): string => `CAST(${sum} AS CHAR) AS ${name}`;
  // An unpaid row has no bonus; the fee is compared with the one fixed at validation.
  const same = `r.bonus_id <=> b.id AND (b.id IS NULL OR (b.asset=x.asset AND b.raw=r.raw AND b.fee_raw=r.fee_raw AND
    b.recipient_account_id=r.recipient_account_id AND b.source_account_id=x.source_account_id))`;
  const rows = await reader.query(
    `SELECT STRAIGHT_JOIN r.batch_id, r.status, ${text('COUNT(*)', 'own_rows')}, ${text('SUM(r.raw)', 'raw')},
      ${text('SUM(r.fee_raw)', 'fee_raw')}, ${text(`SUM(NOT (${same}))`, 'astray')}
     FROM bonus_batches x JOIN bonus_batch_rows r FORCE INDEX (PRIMARY) ON r.batch_id=x.id
      LEFT JOIN bonuses b FORCE INDEX (batch) ON b.batch_id=r.batch_id AND b.batch_row=r.number
     WHERE x.id IN (${idList(ids)}) GROUP BY r.batch_id, r.status`,
  );
  return groupBy(rows.map(parseSums), (sum) => sum.batchId);
}

async function countBonuses(
  reader: Reader,
  ids: readonly Uuid[],
): Promise<ReadonlyMap<Uuid, bigint>> {
  const rows = await reader.query(
    `SELECT batch_id, CAST(COUNT(*) AS CHAR) AS paid FROM bonuses FORCE INDEX (batch)
     WHERE batch_id IN (${idList(ids)}) GROUP BY batch_id`,
  );
  return new Map(rows.map((row) => [uuid.parse(row.batch_id), bigint.parse(row.paid)]));
}

function checkBatch(
  audit: AuditRun,
  batch: BonusBatch,
  sums: readonly RowSums[],
  bonuses: bigint,
): void {
  const subject = `bonus_batch ${batch.id}`;
  const of = (status: BatchRowStatus): RowSums | undefined =>
    sums.find((sum) => sum.status === status);
  const all = (property: 'ownRows' | 'raw' | 'feeRaw' | 'astray', from = sums): bigint =>
    from.reduce((sum, one) => sum + one[property], 0n);
  audit.counted('bonus_batch_rows', Number.parseInt(all('ownRows').toString(), 10));
  const settled = sums.filter(({ status }) => status !== 'pending');
  const compared: readonly (readonly [what: string, says: bigint, is: bigint])[] = [
    ['rows', BigInt(batch.rowCount), all('ownRows')],
    ['total', batch.totalRaw, all('raw')],
    ['fees', batch.feesRaw, all('feeRaw')],
    ['paid rows', BigInt(batch.rowsPaid), of('paid')?.ownRows ?? 0n],
    ['failed rows', BigInt(batch.rowsFailed), of('failed')?.ownRows ?? 0n],
    ['settled sum', batch.settledRaw, all('raw', settled) + all('feeRaw', settled)],
    ['bonuses', BigInt(batch.rowsPaid), bonuses],
  ];
  for (const [what, says, is] of compared)
    if (says !== is)
      audit.report('batch_sums', subject, `it says ${says} ${what}, there are ${is}`);
  const astray = all('astray');
  if (astray !== 0n)
    audit.report(
      'batch_row_bonus',
      subject,
      `${astray} row(s) do not match the bonus that they made`,
    );
  checkEnd(audit, batch, subject);
}

/** Retention leaves only the bonuses. It removes the rows of finished batches, and only after they agreed. */
function checkRemoved(
  audit: AuditRun,
  batch: BonusBatch,
  sums: readonly RowSums[],
  bonuses: bigint,
): void {
  const subject = `bonus_batch ${batch.id}`;
  if (sums.length > 0)
    audit.report('batch_sums', subject, 'it has rows that are said to be removed');
  if (BigInt(batch.rowsPaid) !== bonuses)
    audit.report('batch_sums', subject, `it says ${batch.rowsPaid} bonuses, there are ${bonuses}`);
  if (batch.finishedAt === null)
    audit.report('batch_state', subject, `it is ${batch.status}, and its rows are removed`);
  checkEnd(audit, batch, subject);
}

function checkEnd(audit: AuditRun, batch: BonusBatch, subject: string): void {
  const { status, rowCount, rowsPaid, rowsFailed } = batch;
  const pending = rowCount - rowsPaid - rowsFailed;
  const isPossible = {
    validating: true,
    rejected: pending === rowCount,
    ready: pending === rowCount,
    // After the last row the result file is made; then the batch ends.
    executing: pending > 0 || batch.finishedAt === null,
    completed: rowsPaid === rowCount,
    partially_failed: pending === 0 && rowsFailed > 0,
  }[status];
  if (!isPossible)
    audit.report(
      'batch_state',
      subject,
      `it is ${status} with ${rowsPaid} paid, ${rowsFailed} failed of ${rowCount}`,
    );
}
