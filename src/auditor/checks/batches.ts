import { groupBy } from '../../core/collections.js';
import { bigint, oneOf, uuid } from '../../db/columns.js';
import type { Reader } from '../../db/database.js';
import {
  BATCH_ROW_STATUSES,
  type Batch,
  type BatchKindName,
  batches,
  batchStorage,
} from '../../db/entities/batches.js';
import { rowParser } from '../../db/table.js';
import { type AuditRun, type Check, idList, scanTable } from '../scan.js';

/** A batch may have 100,000 rows, so a slice has few batches. */
const BATCHES_PER_SLICE = 20;

/** The payments of a kind: their table, its index by batch and row, and what equals the row `r`. */
const PAYMENTS = {
  bonus: {
    noun: 'bonuses',
    table: 'bonuses',
    index: 'batch',
    isSame: 'p.recipient_account_id=r.recipient_key',
  },
  payout: {
    noun: 'payouts',
    table: 'payouts',
    index: 'batch_row',
    isSame: `p.id=r.id AND p.holder_name=r.recipient AND p.approved_at IS NOT NULL
      AND JSON_UNQUOTE(JSON_EXTRACT(r.destination, '$.bankCode'))=p.bank_code
      AND JSON_UNQUOTE(JSON_EXTRACT(r.destination, '$.accountEnd'))=p.account_end`,
  },
} as const;

/** Compares a batch's sums with its rows and payments, and each paid row with its payment. */
export const batchChecks: Check = {
  tables: ['batch_rows'],
  run: (audit) =>
    scanTable(audit, batches, BATCHES_PER_SLICE, async (reader, slice) => {
      const all = slice.filter(
        ({ status, rejectionCode }) =>
          status !== 'validating' && (status !== 'rejected' || rejectionCode !== null),
      );
      for (const [kind, accepted] of groupBy(all, (batch) => batch.kind))
        await checkAccepted(audit, reader, kind, accepted);
    }),
};

async function checkAccepted(
  audit: AuditRun,
  reader: Reader,
  kind: BatchKindName,
  accepted: readonly Batch[],
): Promise<void> {
  const { noun, table, index } = PAYMENTS[kind];
  const batchId = accepted.map(({ id }) => id);
  const sums = groupBy(await readSums(reader, kind, idList(batchId)), (sum) => sum.batchId);
  const counted = await reader.query(
    `SELECT batch_id, CAST(COUNT(*) AS CHAR) AS paid FROM ${table} FORCE INDEX (${index})
     WHERE batch_id IN (${idList(batchId)}) GROUP BY batch_id`,
  );
  const paid = new Map(counted.map((row) => [uuid.parse(row.batch_id), bigint.parse(row.paid)]));
  const stored = await reader.select(batchStorage, { batchId });
  const removed = stored.filter(({ rowsRemovedAt }) => rowsRemovedAt !== null);
  const removedIds = new Set(removed.map((one) => one.batchId));
  for (const batch of accepted) {
    const rows = sums.get(batch.id) ?? [];
    compareSum(audit, batch, noun, BigInt(batch.rowsPaid), paid.get(batch.id) ?? 0n);
    if (removedIds.has(batch.id)) checkRemoved(audit, batch, rows);
    else checkRows(audit, batch, rows);
    checkState(audit, batch);
  }
}

const parseSums = rowParser({
  batchId: uuid,
  status: oneOf(BATCH_ROW_STATUSES),
  ownRows: bigint,
  raw: bigint,
  feeRaw: bigint,
  mismatched: bigint,
});
type RowSums = ReturnType<typeof parseSums>;

async function readSums(
  reader: Reader,
  kind: BatchKindName,
  ids: string,
): Promise<readonly RowSums[]> {
  const { table, index, isSame: hasSameRecipient } = PAYMENTS[kind];
  const asText = (sum: string, name: string): string => `CAST(${sum} AS CHAR) AS ${name}`;
  // A row that was not paid has no payment. A paid row has the fee set at validation.
  const isSame = `r.payment_id <=> p.id AND (p.id IS NULL OR (p.asset=x.asset AND p.raw=r.raw
    AND p.fee_raw=r.fee_raw AND p.reference <=> r.reference
    AND p.source_account_id=x.source_account_id AND ${hasSameRecipient}))`;
  const rows = await reader.query(
    `SELECT STRAIGHT_JOIN r.batch_id, r.status, ${asText('COUNT(*)', 'own_rows')},
      ${asText('SUM(r.raw)', 'raw')}, ${asText('SUM(r.fee_raw)', 'fee_raw')},
      ${asText(`SUM(NOT (${isSame}))`, 'mismatched')}
     FROM batches x JOIN batch_rows r FORCE INDEX (PRIMARY) ON r.batch_id=x.id
      LEFT JOIN ${table} p FORCE INDEX (${index}) ON p.batch_id=r.batch_id AND p.batch_row=r.number
     WHERE x.id IN (${ids}) GROUP BY r.batch_id, r.status`,
  );
  return rows.map(parseSums);
}

function compareSum(
  audit: AuditRun,
  { id, kind }: Batch,
  counted: string,
  stored: bigint,
  actual: bigint,
): void {
  if (stored !== actual)
    audit.report(
      'batch_sums',
      `${kind}_batch ${id}`,
      `it counts ${stored} ${counted}, there are ${actual}`,
    );
}

function checkRows(audit: AuditRun, batch: Batch, sums: readonly RowSums[]): void {
  const sumOf = (
    property: 'ownRows' | 'raw' | 'feeRaw' | 'mismatched',
    ...statuses: readonly RowSums['status'][]
  ): bigint =>
    sums
      .filter(({ status }) => statuses.length === 0 || statuses.includes(status))
      .reduce((sum, one) => sum + one[property], 0n);
  audit.countRows('batch_rows', Number.parseInt(sumOf('ownRows').toString(), 10));
  const settled = sumOf('raw', 'paid', 'failed') + sumOf('feeRaw', 'paid', 'failed');
  compareSum(audit, batch, 'rows', BigInt(batch.rowCount), sumOf('ownRows'));
  compareSum(audit, batch, 'total', batch.totalRaw, sumOf('raw'));
  compareSum(audit, batch, 'fees', batch.feesRaw, sumOf('feeRaw'));
  compareSum(audit, batch, 'paid rows', BigInt(batch.rowsPaid), sumOf('ownRows', 'paid'));
  compareSum(audit, batch, 'failed rows', BigInt(batch.rowsFailed), sumOf('ownRows', 'failed'));
  compareSum(audit, batch, 'settled sum', batch.settledRaw, settled);
  const mismatched = sumOf('mismatched');
  audit.report(
    'batch_row_bonus',
    `${batch.kind}_batch ${batch.id}`,
    mismatched !== 0n &&
      `${mismatched} row(s) do not match the ${PAYMENTS[batch.kind].noun} that they made`,
  );
}

/** Checks a batch whose rows retention has removed. It checks their sums before it removes them. */
function checkRemoved(audit: AuditRun, batch: Batch, rows: readonly RowSums[]): void {
  const subject = `${batch.kind}_batch ${batch.id}`;
  const isOpen = batch.finishedAt === null;
  audit.reportAll(subject, {
    batch_sums: rows.length > 0 && 'it has rows that were removed',
    batch_state: isOpen && `it is ${batch.status}, and its rows are removed`,
  });
}

function checkState(
  audit: AuditRun,
  { id, kind, status, rowCount, rowsPaid, rowsFailed, finishedAt }: Batch,
): void {
  const pending = rowCount - rowsPaid - rowsFailed;
  const isPossible = {
    validating: true,
    rejected: pending === rowCount,
    ready: pending === rowCount,
    // After the last row, the result file is generated, and then the batch ends.
    executing: pending > 0 || finishedAt === null,
    completed: rowsPaid === rowCount,
    partially_failed: pending === 0 && rowsFailed > 0,
  }[status];
  audit.report(
    'batch_state',
    `${kind}_batch ${id}`,
    !isPossible && `it is ${status} with ${rowsPaid} paid, ${rowsFailed} failed of ${rowCount}`,
  );
}
