import type { OperationList } from '../accounts/operation-list.js';
import { capabilityRefusal } from '../accounts/rules.js';
import type { Asset } from '../core/amount.js';
import type { Uuid } from '../core/ids.js';
import { toRfc3339 } from '../core/instant.js';
import { uuid } from '../db/columns.js';
import type { Reader } from '../db/database.js';
import {
  BATCH_STATUSES,
  type BatchRowStatus,
  type BonusBatch,
  bonusBatches,
  type BonusBatchProblem,
  bonusBatchProblems,
  type BonusBatchRow,
  bonusBatchRows,
} from '../db/entities/bonuses.js';
import { balances } from '../db/entities/ledger.js';
import { accounts } from '../db/entities/parties.js';
import { literal } from '../db/statements.js';
import type { Column, TableRow } from '../spreadsheets/writing/cells.js';
import { isAccepted } from './rules.js';
import type { BatchReview } from './schemas.js';

const ROWS_A_PAGE = 1_000;
const ROWS_A_PIECE = 100;

const BEFORE_ALL = { number: -1, ordinal: -1 };

/** Returns the next problems of a file in order, first those of the whole file (row 0). */
export function readProblems(
  reader: Reader,
  batchId: Uuid,
  limit: number,
  last: Pick<BonusBatchProblem, 'number' | 'ordinal'> = BEFORE_ALL,
): Promise<readonly BonusBatchProblem[]> {
  return reader.list(
    bonusBatchProblems,
    `FORCE INDEX (PRIMARY)
     WHERE batch_id=${uuid.literal(batchId)} AND number>=${last.number}
       AND (number>${last.number} OR ordinal>${last.ordinal})
     ORDER BY number, ordinal LIMIT ${limit}`,
  );
}

/** Yields the problems of a file in order. */
export async function* errorRows(reader: Reader, batchId: Uuid): AsyncGenerator<BonusBatchProblem> {
  let last: BonusBatchProblem | undefined;
  for (;;) {
    const rows = await readProblems(reader, batchId, ROWS_A_PAGE, last);
    for (const problem of rows) {
      last = problem;
      yield problem;
    }
    if (rows.length < ROWS_A_PAGE) return;
  }
}

export async function* resultRows(
  reader: Reader,
  batch: BonusBatch,
): AsyncGenerator<BonusBatchRow> {
  for (let after = 0; ;) {
    const rows = await readBatchRows(reader, batch, undefined, after, ROWS_A_PAGE);
    yield* rows;
    if (rows.length < ROWS_A_PAGE) return;
    after = rows.at(-1)?.number ?? after;
  }
}

export function errorPieces(reader: Reader, batchId: Uuid): AsyncGenerator<readonly TableRow[]> {
  return inPieces(errorRows(reader, batchId), errorCells);
}

export async function* resultPieces(
  reader: Reader,
  batch: BonusBatch,
): AsyncGenerator<readonly TableRow[]> {
  const { asset } = batch;
  if (asset !== null) yield* inPieces(resultRows(reader, batch), (row) => resultCells(row, asset));
}

async function* inPieces<Row>(
  rows: AsyncIterable<Row>,
  cells: (row: Row) => TableRow,
): AsyncGenerator<readonly TableRow[]> {
  let piece: TableRow[] = [];
  for await (const row of rows)
    if (piece.push(cells(row)) === ROWS_A_PIECE) {
      yield piece;
      piece = [];
    }
  yield piece;
}

export const ERROR_COLUMNS: readonly Column[] = [
  { name: 'row', kind: 'number', width: 8 },
  { name: 'column', kind: 'text', width: 14 },
  { name: 'code', kind: 'text', width: 26 },
  { name: 'message', kind: 'text', width: 70 },
  { name: 'value', kind: 'party', width: 40 },
];

export const RESULT_COLUMNS: readonly Column[] = [
  { name: 'row', kind: 'number', width: 8 },
  { name: 'reference', kind: 'text', width: 22 },
  { name: 'recipient', kind: 'party', width: 38 },
  { name: 'amount', kind: 'text', width: 22 },
  { name: 'asset', kind: 'text', width: 8 },
  { name: 'status', kind: 'text', width: 10 },
  { name: 'bonus_id', kind: 'text', width: 38 },
  { name: 'fee', kind: 'text', width: 14 },
  { name: 'code', kind: 'text', width: 26 },
  { name: 'message', kind: 'text', width: 60 },
  { name: 'paid_at', kind: 'text', width: 26 },
];

/** A problem of the whole file has no row, and one that concerns no column has no column. */
export function errorCells({ number, field, code, message, value }: BonusBatchProblem): TableRow {
  const filled = (text: string): string | null => (text === '' ? null : text);
  return [number === 0 ? null : String(number), filled(field), code, message, filled(value)];
}

/** Amount and fee are in the smallest unit. The fee of an unpaid row is empty. */
export function resultCells(row: BonusBatchRow, asset: Asset): TableRow {
  const isPaid = row.status === 'paid';
  return [
    String(row.number),
    row.reference,
    row.recipient,
    String(row.raw),
    asset,
    isPaid ? 'paid' : 'failed',
    row.bonusId,
    isPaid ? String(row.feeRaw) : null,
    row.code,
    row.message,
    isPaid ? toRfc3339(row.settledAt) : null,
  ];
}

export const batchList: OperationList<BonusBatch> = {
  table: bonusBatches,
  statuses: BATCH_STATUSES,
  resourceType: 'bonus_batch',
  seenFrom: ['source_account_id'],
};

export async function readReviews(
  reader: Reader,
  batches: readonly BonusBatch[],
): Promise<ReadonlyMap<Uuid, BatchReview>> {
  const ready = batches.filter(({ status, asset }) => status === 'ready' && asset !== null);
  if (ready.length === 0) return new Map();
  const ids = [...new Set(ready.map(({ sourceAccountId }) => sourceAccountId))];
  const [own, sources] = await Promise.all([
    reader.select(balances, { accountId: ids }),
    reader.select(accounts, { id: ids }),
  ]);
  return new Map(
    ready.flatMap(({ id, sourceAccountId, asset }): [Uuid, BatchReview][] => {
      const balance = own.find((one) => one.accountId === sourceAccountId && one.asset === asset);
      const source = sources.find((one) => one.id === sourceAccountId);
      if (balance === undefined || source === undefined) return [];
      return [
        [
          id,
          {
            available: balance.available,
            canSend: capabilityRefusal(source) === null,
            earlier: null,
          },
        ],
      ];
    }),
  );
}

export async function readBatchRows(
  reader: Reader,
  batch: BonusBatch,
  status: BatchRowStatus | undefined,
  after: number,
  limit: number,
): Promise<readonly BonusBatchRow[]> {
  // Rows of an unfinished validation are hidden.
  if (!isAccepted(batch)) return [];
  const inStatus =
    status === undefined ? '' : ` AND status=${literal(bonusBatchRows, 'status', status)}`;
  return reader.list(
    bonusBatchRows,
    `FORCE INDEX (${status === undefined ? 'PRIMARY' : 'status'})
     WHERE batch_id=${literal(bonusBatchRows, 'batchId', batch.id)}${inStatus} AND number>${Math.trunc(after)}
     ORDER BY number LIMIT ${Math.trunc(limit)}`,
  );
}
