import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { Uuid } from '../../src/core/ids.js';
import type { Account } from '../../src/db/entities/parties.js';
import type { BatchWorkflowService } from '../../src/batches/workflow-service.js';
import { MAIN, sheetXml, workbook, xml } from '../spreadsheets/workbooks.js';
import { startTestDesk, type TestDesk } from '../support-desk/desk.js';
import { startTestApi, type TestApi } from '../support/api.js';
import { answered, type Bank, LEAST, openBank, text } from '../support/bank.js';
import { type TestDatabase, testDatabase } from '../support/database.js';
import { assertLedgerSound } from '../support/world.js';
import { batchServiceOf, formOf, UNWATCHED } from './support.js';

/** A batch and its errors as the API shows them. */
type Json = Awaited<ReturnType<Bank['get']>>['json'];

describe('workbooks uploaded over HTTP', () => {
  let db: TestDatabase;
  let api: TestApi;
  let desk: TestDesk;
  let bank: Bank;
  let payer: Account;
  let work: BatchWorkflowService;

  before(async () => {
    db = await testDatabase();
    api = await startTestApi(db);
    desk = await startTestDesk(db);
    bank = await openBank(api);
    payer = await bank.account({ funds: { COPM: 100n * LEAST } });
    await bank.account({ alias: '$dora' });
    work = batchServiceOf(api.core);
  });

  after(async () => {
    await assertLedgerSound(db.database);
    await desk.stop();
    await api.stop();
  });

  const sample = (name: string): Buffer => readFileSync(`test/batches/samples/${name}.xlsx`);

  async function validated(file: Buffer): Promise<Json> {
    const form = formOf(file, { source_account: payer.id }, { name: 'payroll.xlsx' });
    const id = text(answered(await bank.request('POST', '/v1/bonus_batches', { form }), 201).json.id) as Uuid;
    await work.validate(id, UNWATCHED);
    return answered(await bank.get(`/v1/bonus_batches/${id}`), 200).json;
  }

  describe('with hidden parts', () => {
    const cells = (...texts: readonly string[]): string =>
      texts.map((one) => `<c t="inlineStr"><is><t>${one}</t></is></c>`).join('');
    const header = `<row>${cells('recipient', 'amount', 'asset')}</row>`;
    const paid = cells('$dora', LEAST.toString(), 'COPM');
    const sheets = (...states: readonly string[]): string =>
      xml(
        `<workbook xmlns="${MAIN}" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets>${states
          .map((state, at) => `<sheet name="S${at}" sheetId="${at + 1}" state="${state}" r:id="rId1"/>`)
          .join('')}</sheets></workbook>`,
      );

    it('rows that a filter hides are paid, and the review counts them', async () => {
      const batch = await validated(sample('hidden_rows_filter'));
      assert.deepEqual([batch.status, batch.rows, batch.hidden], ['ready', 2, { rows: 1, skipped_sheets: 0 }]);
    });

    it('hidden rows are counted in every notation, except the header, empty rows and rows of other columns', async () => {
      const rows = [
        `<row hidden="1">${cells('recipient', 'amount', 'asset', '', 'note')}</row>`,
        ...['hidden="1"', 'hidden="true"', 'ht="0" customHeight="1"', 'hidden="0"', 'hidden="false"', 'ht="15"'].map(
          (attribute) => `<row ${attribute}>${paid}</row>`,
        ),
        '<row hidden="1"/>',
        `<row hidden="1">${cells('', '', '', '', 'a note')}</row>`,
      ];
      const { status, rows: count, hidden } = await validated(workbook(sheetXml(rows.join(''))));
      assert.deepEqual([status, count, hidden], ['ready', 6, { rows: 3, skipped_sheets: 0 }]);
    });

    it('hidden sheets before the sheet that is read are counted, even if that sheet is refused', async () => {
      const hiddenOf = async (rows: string, ...states: readonly string[]): Promise<unknown[]> => {
        const { status, hidden } = await validated(workbook(sheetXml(rows), { 'xl/workbook.xml': sheets(...states) }));
        return [status, hidden];
      };
      const good = `${header}<row>${paid}</row>`;
      const skipped = (count: number): unknown => ({ rows: 0, skipped_sheets: count });
      assert.deepEqual(await hiddenOf(good, 'hidden', 'visible'), ['ready', skipped(1)]);
      assert.deepEqual(await hiddenOf(good, 'hidden', 'veryHidden', 'visible', 'hidden'), ['ready', skipped(2)]);
      assert.deepEqual(await hiddenOf(good, 'visible', 'hidden'), ['ready', skipped(0)]);
      assert.deepEqual(await hiddenOf(`<row>${cells('notes')}</row>`, 'hidden', 'visible'), ['rejected', skipped(1)]);
    });

    it('the support desk shows both, and neither where nothing is hidden', async () => {
      const rows = `${header}<row hidden="1">${paid}</row>`;
      const { id } = await validated(workbook(sheetXml(rows), { 'xl/workbook.xml': sheets('hidden', 'visible') }));
      const visitor = await desk.staffed('reader');
      const page = await visitor.get(`/batches/${text(id)}`);
      assert.match(page.text, /1 of the rows are hidden in the file; they are paid too/);
      assert.match(page.text, /1 before the sheet that was read; their rows are not paid/);
      const { id: plain } = await validated(workbook(sheetXml(`${header}<row>${paid}</row>`)));
      assert.doesNotMatch((await visitor.get(`/batches/${text(plain)}`)).text, /Hidden/);
    });
  });
});
