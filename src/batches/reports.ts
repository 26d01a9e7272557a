import type { Uuid } from '../core/ids.js';
import { uuid } from '../db/columns.js';
import type { Reader } from '../db/database.js';
import {
  type BonusBatch,
  type BonusBatchProblem,
  bonusBatchProblems,
  type BonusBatchRow,
} from '../db/entities/bonuses.js';
import { columnList } from '../db/statements.js';
import { parseRow } from '../db/table.js';
import type { ErrorRow, ResultRow } from './files/writing/reports.js';
import { readBatchRows } from './reading.js';

/** What the errors file and the result file are written from: row after row, a page in memory. */

const ROWS_A_PAGE = 1_000;

/** Everything that is wrong in the file, in its order; what is about the file as a whole (number 0) comes first. */
export async function* errorRows(reader: Reader, batchId: Uuid): AsyncGenerator<BonusBatchProblem> {
  let last = { number: -1, ordinal: -1 };
  for (;;) {
    const rows = await reader.query(
      `SELECT ${columnList(bonusBatchProblems)} FROM bonus_batch_problems FORCE INDEX (PRIMARY)
       WHERE batch_id=${uuid.literal(batchId)} AND number>=${last.number}
         AND (number>${last.number} OR ordinal>${last.ordinal})
       ORDER BY number, ordinal LIMIT ${ROWS_A_PAGE}`,
    );
    for (const row of rows) {
      const problem = parseRow(bonusBatchProblems, row);
      last = problem;
      yield problem;
    }
    if (rows.length < ROWS_A_PAGE) return;
  }
}

/** Every row of an accepted batch with what became of it, in the order of the file. */
export async function* resultRows(reader: Reader, batch: BonusBatch): AsyncGenerator<BonusBatchRow> {
  for (let after = 0; ;) {
    const rows = await readBatchRows(reader, batch, undefined, after, ROWS_A_PAGE);
    yield* rows;
    if (rows.length < ROWS_A_PAGE) return;
    after = rows.at(-1)?.number ?? after;
  }
}

/** The same as the errors file has them. */
export async function* errorFileRows(reader: Reader, batchId: Uuid): AsyncGenerator<ErrorRow> {
  for await (const { number, field, code, message, value } of errorRows(reader, batchId))
    yield { row: number === 0 ? null : number, column: blank(field), code, message, value: blank(value) };
}

/** The same as the result file has them; of a batch whose rows are all settled. */
export async function* resultFileRows(reader: Reader, batch: BonusBatch): AsyncGenerator<ResultRow> {
  const { asset } = batch;
  if (asset === null) return;
  for await (const row of resultRows(reader, batch)) {
    const isPaid = row.status === 'paid';
    yield {
      row: row.number,
      reference: row.reference,
      recipient: row.recipient,
      amount: row.raw,
      asset,
      status: isPaid ? 'paid' : 'failed',
      bonusId: row.bonusId,
      fee: isPaid ? row.feeRaw : null,
      code: row.code,
      message: row.message,
      paidAt: isPaid ? row.settledAt : null,
    };
  }
}

function blank(text: string): string | null {
  return text === '' ? null : text;
}
