import type { Uuid } from '../core/ids.js';
import { uuid } from '../db/columns.js';
import type { Reader } from '../db/database.js';
import {
  type BonusBatch,
  type BonusBatchProblem,
  bonusBatchProblems,
  type BonusBatchRow,
} from '../db/entities/bonuses.js';
import type { TableRow } from '../spreadsheets/writing/columns.js';
import { errorCells, resultCells } from './report-rows.js';
import { readBatchRows } from './reading.js';

const ROWS_A_PAGE = 1_000;
const ROWS_A_PIECE = 100;

/** Yields the problems of a file in order, first those of the whole file (row 0). */
export async function* errorRows(reader: Reader, batchId: Uuid): AsyncGenerator<BonusBatchProblem> {
  let last = { number: -1, ordinal: -1 };
  for (;;) {
    const rows = await reader.list(
      bonusBatchProblems,
      `FORCE INDEX (PRIMARY)
       WHERE batch_id=${uuid.literal(batchId)} AND number>=${last.number}
         AND (number>${last.number} OR ordinal>${last.ordinal})
       ORDER BY number, ordinal LIMIT ${ROWS_A_PAGE}`,
    );
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
