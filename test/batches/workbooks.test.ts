import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { Uuid } from '../../src/core/ids.js';
import { MAIN, sheetXml, workbook, xml } from '../spreadsheets/workbooks.js';
import { startTestApi } from '../helpers/api.js';
import { answered, type Bank, LEAST, openBank, text } from '../helpers/bank.js';
import { testDatabase } from '../helpers/database.js';
import { batchServiceOf, formOf, UNWATCHED } from './support.js';

const cells = (...texts: readonly string[]): string =>
  texts.map((one) => `<c t="inlineStr"><is><t>${one}</t></is></c>`).join('');

/** A batch as the API shows it. */
type Json = Awaited<ReturnType<Bank['get']>>['json'];

const db = await testDatabase();
const api = await startTestApi(db);
const bank = await openBank(api);
const payer = await bank.account({ funds: { COPM: 100n * LEAST } });
await bank.account({ alias: '$dora' });
const work = batchServiceOf(api.core);

describe('workbooks uploaded over HTTP', () => {
  const sample = (name: string): Buffer => readFileSync(`test/batches/samples/${name}.xlsx`);

  async function validated(file: Buffer): Promise<Json> {
    const form = formOf(file, { source_account: payer.id }, { name: 'payroll.xlsx' });
    const id = text(
      answered(await bank.request('POST', '/v1/bonus_batches', { form }), 201).json.id,
    ) as Uuid;
    await work.validate(id, UNWATCHED);
    return answered(await bank.get(`/v1/bonus_batches/${id}`), 200).json;
  }

  /** Row, column, code and message of every problem. */
  async function problems(file: Buffer): Promise<readonly string[]> {
    const { id, status } = await validated(file);
    assert.equal(status, 'rejected');
    const { text: csv } = answered(
      await bank.get(`/v1/bonus_batches/${text(id)}/files/errors`),
      200,
    );
    return csv.trim().split('\r\n').slice(1);
  }

  it('the same reference in several notations is a duplicate', async () => {
    const row = (reference: string): string =>
      `<row>${cells('$dora')}<c><v>${LEAST}</v></c>${cells('COPM', 'x')}${reference}</row>`;
    const header = `<row>${cells('recipient', 'amount', 'asset', 'description', 'reference')}</row>`;
    const numbers = ['1001', '1001.0', '1.001E3'].map((value) => row(`<c><v>${value}</v></c>`));
    const found = await problems(
      workbook(sheetXml([header, ...numbers, row(cells('1001'))].join(''))),
    );
    assert.deepEqual(
      found.map((line) => line.split(',').slice(0, 3).join(' ')),
      ['3', '4', '5'].map((number) => `${number} reference duplicate_reference`),
    );
  });

  const header = `<row>${cells('recipient', 'amount', 'asset')}</row>`;
  const paid = cells('$dora', LEAST.toString(), 'COPM');
  const sheets = (...states: readonly string[]): string =>
    xml(
      `<workbook xmlns="${MAIN}" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets>${states
        .map(
          (state, at) => `<sheet name="S${at}" sheetId="${at + 1}" state="${state}" r:id="rId1"/>`,
        )
        .join('')}</sheets></workbook>`,
    );

  it('rows that a filter hides are paid, and the review counts them', async () => {
    const batch = await validated(sample('hidden_rows_filter'));
    assert.deepEqual(
      [batch.status, batch.rows, batch.hidden],
      ['ready', 2, { rows: 1, columns: [], skipped_sheets: 0 }],
    );
  });

  it('hidden rows are counted in every notation, except the header, empty rows and rows of other columns', async () => {
    const rows = [
      `<row hidden="1">${cells('recipient', 'amount', 'asset', '', 'note')}</row>`,
      ...[
        'hidden="1"',
        'hidden="true"',
        'ht="0" customHeight="1"',
        'hidden="0"',
        'hidden="false"',
        'ht="15"',
      ].map((attribute) => `<row ${attribute}>${paid}</row>`),
      '<row hidden="1"/>',
      `<row hidden="1">${cells('', '', '', '', 'a note')}</row>`,
    ];
    const { status, rows: count, hidden } = await validated(workbook(sheetXml(rows.join(''))));
    assert.deepEqual(
      [status, count, hidden],
      ['ready', 6, { rows: 3, columns: [], skipped_sheets: 0 }],
    );
  });

  it('hidden sheets before the sheet that is read are counted, even if that sheet is refused', async () => {
    const hiddenOf = async (rows: string, ...states: readonly string[]): Promise<unknown[]> => {
      const { status, hidden } = await validated(
        workbook(sheetXml(rows), { 'xl/workbook.xml': sheets(...states) }),
      );
      return [status, hidden];
    };
    const good = `${header}<row>${paid}</row>`;
    const skipped = (count: number): unknown => ({ rows: 0, columns: [], skipped_sheets: count });
    assert.deepEqual(await hiddenOf(good, 'hidden', 'visible'), ['ready', skipped(1)]);
    assert.deepEqual(await hiddenOf(good, 'hidden', 'veryHidden', 'visible', 'hidden'), [
      'ready',
      skipped(2),
    ]);
    assert.deepEqual(await hiddenOf(good, 'visible', 'hidden'), ['ready', skipped(0)]);
    assert.deepEqual(await hiddenOf(`<row>${cells('notes')}</row>`, 'hidden', 'visible'), [
      'rejected',
      skipped(1),
    ]);
  });
});
