import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ExcelJS from 'exceljs';
import { parse } from 'csv-parse/sync';
import { newId } from '../../src/core/ids.js';
import { instant } from '../../src/core/instant.js';
import type { BatchProblem, BatchRow } from '../../src/db/entities/batches.js';
import { bytesOf } from '../../src/spreadsheets/sheet.js';
import { openSheet } from '../../src/spreadsheets/open-sheet.js';
import {
  type CellKind,
  type Column,
  csvLines,
  type TableRow,
} from '../../src/spreadsheets/writing/cells.js';
import { ERROR_COLUMNS, errorCells } from '../../src/batches/files.js';
import { RESULT_COLUMNS, resultCells } from '../../src/batches/kinds/bonus.js';
import { TableFiles, type TablePaths } from '../../src/spreadsheets/writing/table-files.js';
import { textsOf } from './workbooks.js';

const PAID: BatchRow = {
  id: newId(),
  batchId: newId(),
  number: 2,
  recipient: '+573001112233',
  recipientKey: newId(),
  destination: null,
  raw: 9_007_199_254_740_993n,
  feeRaw: 100n,
  description: null,
  reference: 'R-1',
  metadata: { invoice: 'A-17' },
  status: 'paid',
  paymentId: newId(),
  code: null,
  message: null,
  settledAt: instant(Date.UTC(2026, 10, 1, 14, 5)),
};
const FAILED: BatchRow = {
  ...PAID,
  number: 3,
  reference: null,
  recipient: '$ana',
  status: 'failed',
  paymentId: null,
  code: 'insufficient_funds',
  message: 'the available balance is 5, the row needs 10',
};
const ERROR: BatchProblem = {
  ...{ batchId: newId(), number: 2, ordinal: 0, field: 'amount' },
  ...{ code: 'invalid_field', message: 'no "number"', value: '1,5' },
};

function cells(row: BatchRow): TableRow {
  return resultCells(row, 'COPM');
}

type Format = 'csv' | 'xlsx';

async function inFolder<T>(work: (paths: TablePaths) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'test-'));
  try {
    return await work({ csv: join(folder, 'csv'), xlsx: join(folder, 'xlsx') });
  } finally {
    await rm(folder, { recursive: true });
  }
}

function written(
  columns: readonly Column[],
  rows: readonly TableRow[],
): Promise<Record<Format, Buffer>> {
  return inFolder(async (paths) => {
    const files = new TableFiles(columns, paths, 'Result');
    await files.add(rows);
    await files.end();
    return { csv: await readFile(paths.csv), xlsx: await readFile(paths.xlsx) };
  });
}

async function result(format: Format, rows: readonly BatchRow[]): Promise<Buffer> {
  return (await written(RESULT_COLUMNS, rows.map(cells)))[format];
}

async function errors(format: Format, rows: readonly BatchProblem[]): Promise<Buffer> {
  return (await written(ERROR_COLUMNS, rows.map(errorCells)))[format];
}

async function opened(bytes: Buffer): Promise<ExcelJS.Worksheet> {
  const book = new ExcelJS.Workbook();
  // exceljs has a type of its own by this name.
  await book.xlsx.load(bytes as unknown as ExcelJS.Buffer);
  assert.equal(book.worksheets.length, 1);
  return book.worksheets[0]!;
}

/** Texts that people may type, harmless and harmful. */
const FORMULAS = [
  ...['=1+1', '+1+1', '-1+1', '@SUM(A1)', '=HYPERLINK("http://x.example";"a")'],
  ...["=cmd|' /C calc'!A0", '|calc', '%0A=1', ' =1+1', '\t=1+1', '\n=1+1', '\r\n=1+1'],
  ...['\0=1+1', '\u0085=1+1', '"=1+1', '=1+1"', 'a;=1+1', 'a;"=1+1', 'a; -1+1;b'],
  ...['a\n=1+1', 'a\t=1+1', '＝1+1', '＋1', '－1', '＠A1', '+57300+1', '+57 300', '\u200e=1'],
];

describe('the result file', () => {
  it('has the columns of the interface, and the outcome of each row', async () => {
    const header =
      'row reference recipient amount asset status bonus_id fee code message paid_at'.split(' ');
    const amount = ['9007199254740993', 'COPM'];
    const paid = ['paid', PAID.paymentId, '100', null, null, '2026-11-01T14:05:00.000Z'];
    const failed = ['failed', null, null, 'insufficient_funds', FAILED.message];
    const want = [
      header,
      ['2', 'R-1', '+573001112233', ...amount, ...paid],
      ['3', null, '$ana', ...amount, ...failed],
    ];
    for (const format of ['csv', 'xlsx'] as const) {
      assert.deepEqual(await textsOf(await result(format, [PAID, FAILED])), want, format);
      assert.deepEqual(await textsOf(await result(format, [])), [header], format);
    }
  });
});

describe('the errors file', () => {
  it('has the columns of the interface; a problem of the whole file has no row', async () => {
    const none = { number: 0, field: '', code: 'no_rows', message: 'the file has no rows' };
    const rows = [ERROR, { ...ERROR, ...none, value: '' }];
    for (const format of ['csv', 'xlsx'] as const)
      assert.deepEqual(await textsOf(await errors(format, rows)), [
        ['row', 'column', 'code', 'message', 'value'],
        ['2', 'amount', 'invalid_field', 'no "number"', '1,5'],
        [null, null, 'no_rows', 'the file has no rows'],
      ]);
  });
});

describe('exported cells', () => {
  /** Every cell that a program may see in the CSV, whichever separator it takes and whether it heeds quotes or not. */
  function cellsSeen(text: string): string[] {
    const lines = text.replace('\ufeff', '').split(/\r\n|\n|\r/);
    const seen = parse(text, { bom: true, relax_column_count: true, relax_quotes: true }).flat();
    for (const delimiter of [',', ';', '\t'])
      for (const line of lines)
        seen.push(...line.split(delimiter).map((cell) => cell.replace(/^"+|"+$/g, '')));
    return seen;
  }

  it('of a CSV cannot be taken for formulas, in any column and in the errors file', async () => {
    const columns = ['reference', 'message', 'code', 'recipient'] as const;
    const rows = FORMULAS.flatMap((text) =>
      columns.map((column) => ({ ...FAILED, [column]: text })),
    );
    const problems = FORMULAS.map((value) => ({ ...ERROR, value }));
    for (const file of [await result('csv', rows), await errors('csv', problems)])
      for (const cell of cellsSeen(file.toString('utf8')))
        assert.doesNotMatch(cell, /^[\s"\p{Cc}]*[=+\-@＝＋－＠|%]/u, JSON.stringify(cell));
  });

  it('the apostrophe before a formula is the only change of an exported cell, and phones and aliases have none', async () => {
    const csvCell = (text: string, kind: CellKind): string => csvLines([[text]], [kind]).trimEnd();
    assert.equal(csvCell('-1', 'text'), `"'-1"`);
    assert.equal(csvCell('=a;=b', 'text'), `"'=a;'=b"`);
    assert.equal(csvCell('plain text, with a comma', 'text'), '"plain text, with a comma"');
    assert.equal(csvCell('ñ € 👩 a-b a+b a=b', 'text'), 'ñ € 👩 a-b a+b a=b');
    assert.equal(csvCell('+573001112233', 'text'), `"'+573001112233"`, 'where no phone belongs');
    for (const recipient of ['+573001112233', '$ana', '018f0000-0000-7000-8000-0000000000ff']) {
      const [, row] = await textsOf(await result('csv', [{ ...PAID, recipient }]));
      assert.equal(row?.[2], recipient);
    }
  });

  it('every cell exported to an XLSX is text, unchanged except for control characters', async () => {
    const rows = FORMULAS.map((text) => ({
      ...FAILED,
      reference: text,
      message: text,
      recipient: text,
    }));
    const bytes = await result('xlsx', rows);
    const sheet = await opened(bytes);
    for (let row = 2; row < rows.length + 2; row += 1)
      for (const column of ['B', 'C', 'J']) {
        const cell = sheet.getCell(`${column}${row}`);
        assert.equal(cell.type, ExcelJS.ValueType.String);
        assert.equal(cell.formula, undefined);
      }
    for await (const { number, cells } of openSheet(bytesOf([bytes])))
      for (const cell of number === 1 ? [] : cells.slice(1))
        assert.ok(cell === null || cell.kind === 'text');
  });

  it('contain no control characters, show invisible ones, and otherwise come back unchanged', async () => {
    const text = 'a\0b\x1bc\u0085d\ne\r\n\tf\u2028g\ud800h\uffff <&> "\' _x0041_ ]]> ñ€👩‍👧 \u202e';
    const want = 'abc d e f gh <&> "\' _x0041_ ]]> ñ€👩‍👧 \\u202e';
    for (const format of ['csv', 'xlsx'] as const) {
      const [, row] = await textsOf(await result(format, [{ ...FAILED, message: text }]));
      assert.equal(row?.[9], want, format);
    }
  });
});
