import assert from 'node:assert/strict';
import ExcelJS from 'exceljs';
import { parse } from 'csv-parse/sync';
import { setFeeAccount } from '../../src/accounts/fee.js';
import type { Uuid } from '../../src/core/ids.js';
import type { Account } from '../../src/db/entities/parties.js';
import type { BatchWorkflowService } from '../../src/batches/workflow-service.js';
import { startTestApi, type TestAnswer } from '../support/api.js';
import { answered, LEAST, object, openBank, text } from '../support/bank.js';
import { testDatabase } from '../support/database.js';
import { setFee, TEST_ACTOR } from '../support/world.js';
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

/** The template with its example row replaced, as a clerk saves it. */
async function filledIn(
  template: TestAnswer,
  format: Format,
  cells: readonly string[],
): Promise<Buffer> {
  const example = (await cellsOf(template, format))[1];
  assert(example?.length === cells.length);
  if (format === 'csv')
    return Buffer.from(template.text.replace(example.join(','), cells.join(',')));
  const workbook = new ExcelJS.Workbook();
  await workbook.xlsx.load(new Uint8Array(template.bytes).buffer);
  cells.forEach((cell, index) => (workbook.worksheets[0]!.getCell(2, index + 1).value = cell));
  return Buffer.from(await workbook.xlsx.writeBuffer());
}

const db = await testDatabase();
const api = await startTestApi(db);
const bank = await openBank(api);

describe('the files of batches over HTTP', () => {
  let payer: Account;
  let work: BatchWorkflowService;

  before(async () => {
    payer = await bank.account({ funds: { COPM: 100n * LEAST } });
    await bank.account({ alias: '$ana', phone: '+573001112233' });
    work = batchServiceOf(api.core);
  });

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

  for (const format of FORMATS)
    it(`the ${format} template is refused with only its example row, and accepted once that is replaced`, async () => {
      const template = answered(await bank.get(`/v1/bonus_batches/template?format=${format}`), 200);
      assertFile(template, format, new RegExp(`filename="bonuses\\.${format}"`));
      const asItIs = await validated(template.bytes);
      assert.equal(asItIs.status, 'rejected');
      assert.deepEqual(
        (await cellsOf(await errors(asItIs.id), 'csv'))
          .slice(1)
          .map(([row, column, code]) => [row, column, code]),
        [['2', 'recipient', 'not_found']],
      );
      const filled = await filledIn(template, format, [
        '+57 300 111 2233',
        MIN,
        'COPM',
        'November with ñ',
        'R-1',
      ]);
      const { id, status } = await validated(filled);
      assert.equal(status, 'ready', (await errors(id)).text);
      const { json } = answered(await bank.get(`/v1/bonus_batches/${id}`), 200);
      assert.deepEqual([json.rows, json.total], [1, { raw: MIN, asset: 'COPM' }]);
    });

  it('the template is a CSV unless said, and needs no role in any account', async () => {
    assertFile(answered(await bank.get('/v1/bonus_batches/template'), 200), 'csv', /bonuses\.csv/);
    answered(await bank.get('/v1/bonus_batches/template?format=ods'), 400, 'invalid_field');
  });

  it('the errors file has a line for each problem, in both formats, safe to open', async () => {
    const { id, status } = await validated(
      csvOf([
        ['$ana', '1.5', 'COPM', '-cmd', 'r1'],
        ['=1+1', MIN, 'EUR', null, 'r1'],
        ['+57300', '', 'COPM', null, null],
      ]),
    );
    assert.equal(status, 'rejected');
    const expected = [
      ['row', 'column', 'code', 'value'],
      ['2', 'amount', 'invalid_field', '1.5'],
      ['3', 'recipient', 'formula_cell', '=1+1'],
      ['3', 'asset', 'invalid_field', 'EUR'],
      ['3', 'reference', 'duplicate_reference', 'r1'],
      ['4', 'recipient', 'invalid_field', '+57300'],
      ['4', 'amount', 'missing_field', ''],
    ];
    for (const format of FORMATS) {
      const answer = answered(await errors(id, `?format=${format}`), 200);
      assertFile(answer, format, new RegExp(`filename="errors-${id}\\.${format}"`));
      const shown = (await cellsOf(answer, format)).map(([row, column, code, , value]) => [
        row,
        column,
        code,
        value,
      ]);
      // In a CSV what could run has an apostrophe before it; a cell of an XLSX says itself that it is text.
      assert.deepEqual(
        shown,
        format === 'xlsx'
          ? expected
          : expected.map((cells) => cells.map((cell) => (cell === '=1+1' ? "'=1+1" : cell))),
      );
    }
    assert.equal((await errors(id)).text, (await errors(id, '?format=csv')).text);
    answered(await result(id), 404, 'not_found');
    const { files } = answered(await bank.get(`/v1/bonus_batches/${id}`), 200).json;
    assert.equal(
      new URL(text(object(files).errors_url)).pathname,
      `/v1/bonus_batches/${id}/files/errors`,
    );
  });

  it('the result file lists every row, in both formats, once all are settled, with any fee charged', async () => {
    const tenantId = bank.tenant.tenant.id;
    await setFeeAccount(db.deps, tenantId, (await bank.account()).id, TEST_ACTOR);
    await setFee(db.database, { tenantId, operation: 'bonus', flatRaw: 700n });
    const { id } = await validated(
      csvOf([
        ['$ana', MIN, 'COPM', 'November', 'r1'],
        ['300 111 2233', (200n * LEAST).toString(), 'COPM', null, 'r2'],
      ]),
    );
    answered(await result(id), 404, 'not_found');
    answered(await bank.request('POST', `/v1/bonus_batches/${id}/execute`), 202);
    answered(await result(id), 404, 'not_found');
    assert.equal((await work.pay(id, UNWATCHED)).end, 'over');
    const { json } = answered(await bank.get(`/v1/bonus_batches/${id}/rows?status=paid`), 200);
    const [paid] = json.items as { bonus_id: string; paid_at: string }[];
    for (const format of FORMATS) {
      const answer = answered(await result(id, `?format=${format}`), 200);
      assertFile(answer, format, new RegExp(`filename="result-${id}\\.${format}"`));
      const [head, first, second, ...rest] = await cellsOf(answer, format);
      assert(second !== undefined);
      assert.deepEqual(
        head,
        'row,reference,recipient,amount,asset,status,bonus_id,fee,code,message,paid_at'.split(','),
      );
      assert.deepEqual(first, [
        '2',
        'r1',
        '$ana',
        MIN,
        'COPM',
        'paid',
        paid?.bonus_id,
        '700',
        '',
        '',
        paid?.paid_at,
      ]);
      assert.deepEqual(second.slice(0, 9), [
        // Nothing was charged for it.
        ...['3', 'r2', '300 111 2233', '20000000', 'COPM', 'failed', '', '', 'insufficient_funds'],
      ]);
      assert.notEqual(second[9], '');
      assert.deepEqual([second[10], rest], ['', []]);
    }
    answered(await errors(id), 404, 'not_found');
  });

  it('HEAD of a file of a batch answers its headers, without a body', async () => {
    const { id } = await validated(csvOf([['$nobody', MIN, 'COPM', null, null]]));
    for (const path of ['/v1/bonus_batches/template', `/v1/bonus_batches/${id}/files/errors`]) {
      const answer = answered(await bank.request('HEAD', path), 200);
      assert.deepEqual([answer.headers.get('content-type'), answer.bytes.length], [TYPES.csv, 0]);
    }
    const absent = await bank.request('HEAD', `/v1/bonus_batches/${id}/files/result`);
    assert.deepEqual([absent.status, absent.bytes.length], [404, 0]);
  });
});
