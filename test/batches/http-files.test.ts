import assert from 'node:assert/strict';
import ExcelJS from 'exceljs';
import { parse } from 'csv-parse/sync';
import type { Uuid } from '../../src/core/ids.js';
import { startTestApi, type TestAnswer } from '../helpers/api.js';
import { answered, LEAST, openBank, text } from '../helpers/bank.js';
import { testDatabase } from '../helpers/database.js';
import { batchServiceOf, csvOf, formOf, UNWATCHED } from './support.js';

const FORMATS = ['csv', 'xlsx'] as const;
type Format = (typeof FORMATS)[number];

const TYPES = {
  csv: 'text/csv; charset=utf-8',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
} as const;
const MIN = LEAST.toString();

/** The cells of a file that was downloaded, as a person's program shows them. */
async function cellsOf({ bytes }: TestAnswer, format: Format): Promise<string[][]> {
  if (format === 'csv') return parse(bytes, { bom: true });
  const workbook = new ExcelJS.Workbook();
  await workbook.xlsx.load(new Uint8Array(bytes).buffer);
  const rows: string[][] = [];
  const [sheet] = workbook.worksheets;
  assert(sheet !== undefined);
  sheet.eachRow((row) => {
    rows.push(Array.from({ length: sheet.columnCount }, (_, index) => row.getCell(index + 1).text));
  });
  return rows;
}

const db = await testDatabase();
const api = await startTestApi(db);
const bank = await openBank(api);
const payer = await bank.account({ funds: { COPM: 100n * LEAST } });
await bank.account({ alias: '$ana', phone: '+573001112233' });
const work = batchServiceOf(api.core);

describe('the files of batches over HTTP', () => {
  async function uploaded(file: Buffer): Promise<Uuid> {
    const form = formOf(file, { source_account: payer.id });
    return text(
      answered(await bank.request('POST', '/v1/bonus_batches', { form }), 201).json.id,
    ) as Uuid;
  }

  async function validated(file: Buffer): Promise<{ readonly id: Uuid; readonly status: string }> {
    const id = await uploaded(file);
    return { id, status: (await work.validate(id, UNWATCHED)).status };
  }

  const errors = (id: string, query = ''): Promise<TestAnswer> =>
    bank.get(`/v1/bonus_batches/${id}/files/errors${query}`);
  const result = (id: string, query = ''): Promise<TestAnswer> =>
    bank.get(`/v1/bonus_batches/${id}/files/result${query}`);

  function assertFile({ headers }: TestAnswer, format: Format, name: RegExp): void {
    assert.equal(headers.get('content-type'), TYPES[format]);
    assert.match(headers.get('content-disposition') ?? '', name);
    assert.equal(headers.get('cache-control'), 'no-store');
    assert.notEqual(headers.get('svc-request-id'), null);
  }

  it('the template, by default a CSV, is rejected with only its example row, and accepted once the row is replaced', async () => {
    for (const [query, format] of [
      ['', 'csv'],
      ['?format=xlsx', 'xlsx'],
    ] as const) {
      const template = answered(await bank.get(`/v1/bonus_batches/template${query}`), 200);
      assertFile(template, format, new RegExp(`filename="bonuses\\.${format}"`));
      const { id, status } = await validated(template.bytes);
      assert.equal(status, 'rejected');
      const problems = (await cellsOf(await errors(id), 'csv')).slice(1);
      assert.deepEqual(
        problems.map((cells) => cells.slice(0, 3)),
        [['2', 'recipient', 'not_found']],
      );
    }
    const template = answered(await bank.get('/v1/bonus_batches/template'), 200);
    const [, example] = await cellsOf(template, 'csv');
    const cells = ['+57 300 111 2233', MIN, 'COPM', 'November with ñ', 'R-1'];
    const filled = Buffer.from(template.text.replace(example!.join(','), cells.join(',')));
    const { id, status } = await validated(filled);
    assert.equal(status, 'ready', (await errors(id)).text);
    const { json } = answered(await bank.get(`/v1/bonus_batches/${id}`), 200);
    assert.deepEqual([json.rows, json.total], [1, { raw: MIN, asset: 'COPM' }]);
    answered(await bank.get('/v1/bonus_batches/template?format=ods'), 400, 'invalid_field');
  });

  it('the errors and result files of a batch exist in both formats, and are 404 before they are generated and if the batch ended in another way', async () => {
    const bad = csvOf([
      ['$ana', '1.5', 'COPM', '-cmd', 'r1'],
      ['=1+1', MIN, 'EUR', null, 'r1'],
    ]);
    const good = csvOf([['$ana', MIN, 'COPM', 'November', 'r1']]);
    const [rejected, paid] = [await validated(bad), await validated(good)];
    answered(await result(paid.id), 404, 'not_found');
    answered(await bank.request('POST', `/v1/bonus_batches/${paid.id}/execute`), 202);
    answered(await result(paid.id), 404, 'not_found');
    assert.equal((await work.pay(paid.id, UNWATCHED)).end, 'over');
    const { json } = answered(await bank.get(`/v1/bonus_batches/${paid.id}/rows`), 200);
    const [row] = json.items as { bonus_id: string; paid_at: string }[];
    for (const format of FORMATS) {
      const problems = answered(await errors(rejected.id, `?format=${format}`), 200);
      assertFile(problems, format, new RegExp(`filename="errors-${rejected.id}\\.${format}"`));
      // In a CSV what could run has an apostrophe before it; a cell of an XLSX says itself that it is text.
      const formula = format === 'csv' ? "'=1+1" : '=1+1';
      assert.deepEqual(
        (await cellsOf(problems, format)).map(([at, column, code, , value]) => [
          ...[at, column, code, value],
        ]),
        [
          ['row', 'column', 'code', 'value'],
          ['2', 'amount', 'invalid_field', '1.5'],
          ['3', 'recipient', 'formula_cell', formula],
          ['3', 'asset', 'invalid_field', 'EUR'],
          ['3', 'reference', 'duplicate_reference', 'r1'],
        ],
      );
      const results = answered(await result(paid.id, `?format=${format}`), 200);
      assertFile(results, format, new RegExp(`filename="result-${paid.id}\\.${format}"`));
      const [head, ...rows] = await cellsOf(results, format);
      const columns =
        'row,reference,recipient,amount,asset,status,bonus_id,fee,code,message,paid_at';
      assert.deepEqual(head, columns.split(','));
      assert.deepEqual(rows, [
        ['2', 'r1', '$ana', MIN, 'COPM', 'paid', row?.bonus_id, '0', '', '', row?.paid_at],
      ]);
    }
    answered(await result(rejected.id), 404, 'not_found');
    answered(await errors(paid.id), 404, 'not_found');
  });

  it("HEAD of a batch's file returns its headers without a body", async () => {
    const { id } = await validated(csvOf([['$nobody', MIN, 'COPM', null, null]]));
    for (const path of ['/v1/bonus_batches/template', `/v1/bonus_batches/${id}/files/errors`]) {
      const answer = answered(await bank.request('HEAD', path), 200);
      assert.deepEqual([answer.headers.get('content-type'), answer.bytes.length], [TYPES.csv, 0]);
    }
    const absent = await bank.request('HEAD', `/v1/bonus_batches/${id}/files/result`);
    assert.deepEqual([absent.status, absent.bytes.length], [404, 0]);
  });
});
