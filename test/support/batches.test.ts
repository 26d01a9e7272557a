import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { parseDetails } from '../../src/access/audit-log.js';
import { batchServiceOf, BatchWorld, resourceOf, UNWATCHED } from '../batches/support.js';
import type { Batch } from '../../src/db/entities/batches.js';
import { idLiteral, LEAST } from '../helpers/bank.js';
import { testDatabase } from '../helpers/database.js';
import { formOf, startTestDesk } from './desk.js';

const PAYROLL = 'recipient,amount,asset,description,reference\n$dora,100000,COPM,Nomina,PAY-001\n';

const db = await testDatabase();
const desk = await startTestDesk(db);

describe("a batch's page at the support desk", () => {
  it('lists the rows that were paid before, although the line endings of the file differ', async () => {
    const world = await BatchWorld.open(db);
    await world.account({ alias: '$dora' });
    const payer = await world.account({ funds: { COPM: 10n * LEAST } });
    const ready = async (csv: string): Promise<Batch> => {
      const { id } = resourceOf(await world.upload(payer, Buffer.from(csv)));
      await batchServiceOf(world.deps).validate(id, UNWATCHED);
      return world.batch(id);
    };
    const first = await ready(PAYROLL);
    await world.execute(first);
    assert.equal(await world.pay(first), 'over');
    const again = await ready(PAYROLL.replaceAll('\n', '\r\n'));
    assert.equal(again.sameFileBatchId, null);
    const visitor = await desk.staffed('maria');
    const { text } = await visitor.get(`/batches/${again.id}`);
    const [row] = await world.rows(first.id);
    assert.match(text, /the first 1 of 1/);
    for (const shown of [
      'Row 2',
      `/batches/${first.id}`,
      String(row?.paymentId),
      '1,000.00 COPM',
      'Total debit',
    ])
      assert(text.includes(shown), shown);
    assert.doesNotMatch(
      (await visitor.get(`/batches/${first.id}`)).text,
      /paid before under the same reference/,
    );
  });

  it('the id of a batch of payouts leads from the search to its page', async () => {
    const world = await BatchWorld.open(db, { kind: 'payout' });
    const { id } = resourceOf(await world.upload(await world.account(), Buffer.from(PAYROLL)));
    const visitor = await desk.staffed('quin');
    const { headers } = await visitor.get(`/search?text=${id}`);
    assert.equal(headers.get('location'), `/payout_batches/${id}`);
    assert.equal((await visitor.get(`/payout_batches/${id}`)).status, 200);
  });

  it('says why the batch was rejected', async () => {
    const world = await BatchWorld.open(db);
    const payer = await world.account({ funds: { COPM: 10n * LEAST } });
    const file = Buffer.from(PAYROLL.replace('$dora', '$nobody-has-this'));
    const { id } = resourceOf(await world.upload(payer, file));
    await batchServiceOf(world.deps).validate(id, UNWATCHED);
    const { text } = await (await desk.staffed('nora')).get(`/batches/${id}`);
    for (const shown of ['the file has problems', 'Row 2', 'recipient', '>not found<'])
      assert(text.includes(shown), shown);
  });

  it('all rows and all problems of a batch have pages at the support desk, with filters and as CSV', async () => {
    const world = await BatchWorld.open(db);
    await world.account({ alias: '$dora' });
    const payer = await world.account({ funds: { COPM: 100n * LEAST } });
    const numbers = Array.from({ length: 30 }, (_, index) => index + 2);
    const validated = async (recipient: string): Promise<Batch> => {
      const lines = numbers.map((n) => `${recipient},100000,COPM,"@Nomina, 1",PAY-${n}\n`);
      const csv = `recipient,amount,asset,description,reference\n${lines.join('')}`;
      const { id } = resourceOf(await world.upload(payer, Buffer.from(csv)));
      await batchServiceOf(world.deps).validate(id, UNWATCHED);
      return world.batch(id);
    };
    const visitor = await desk.staffed('pia');
    const shown = async (path: string): Promise<readonly string[]> => {
      const { status, text } = await visitor.get(path);
      assert.equal(status, 200, text);
      const cells = text.matchAll(/<th scope="row"[^>]*>\s*(?:<a[^>]*>)?([^<]*)/g);
      return Array.from(cells, ([, cell = '']) => cell);
    };
    const rows = (from: number, to: number): readonly string[] =>
      numbers.filter((n) => from <= n && n <= to).map((n) => `Row ${n}`);

    const paid = await validated('$dora');
    await world.execute(paid);
    assert.equal(await world.pay(paid), 'over');
    const path = `/batches/${paid.id}/rows`;
    const [{ paymentId } = {}] = await world.rows(paid.id);
    const { text: own } = await visitor.get(`/batches/${paid.id}`);
    for (const part of [`href="/bonuses/${paymentId}"`, `href="${path}"`, 'Row 11', '>All rows<'])
      assert(own.includes(part), part);
    assert(!own.includes('Row 12'), own);
    const bonus = await visitor.get(`/bonuses/${paymentId}`);
    assert(bonus.text.includes(`href="/batches/${paid.id}"`), bonus.text);
    for (const [query, found] of [
      ['', rows(2, 26)],
      ['after=26', rows(27, 31)],
      ['row=30', rows(30, 31)],
      ['status=paid&row=7', rows(7, 31)],
      ['status=failed', []],
      ['text=pay-30', ['Row 30']],
      ['text=DORA&row=31', ['Row 31']],
      ['text=%25', []],
    ] as const)
      assert.deepEqual(await shown(`${path}?${query}`), found, query);
    assert((await visitor.get(`${path}?status=paid`)).text.includes(`status=paid&amp;after=26`));
    for (const wrong of ['x', '-1', '1e9', '1.2.3'])
      assert.equal((await visitor.get(`${path}?after=${wrong}`)).status, 404, wrong);

    const wrong = await validated('$nobody');
    const problems = `/batches/${wrong.id}/problems`;
    assert.deepEqual((await shown(`/batches/${wrong.id}`)).slice(0, 10), rows(2, 11));
    assert.deepEqual(await shown(problems), rows(2, 26));
    assert.deepEqual(await shown(`${problems}?row=27`), rows(27, 31));
    const next = /rel="next"\s+href="([^"]*)"/.exec((await visitor.get(problems)).text)?.[1] ?? '';
    assert.deepEqual(await shown(next), rows(27, 31));
    assert.deepEqual(await shown(`${problems}?code=not_found`), rows(2, 26));
    assert.deepEqual(await shown(`${problems}?code=no_rows`), []);
    for (const [words, found] of [
      ['NOBODY%20recip', rows(2, 26)],
      ['nobody&row=30', rows(30, 31)],
      ['nobody&code=no_rows', []],
      ['somebody', []],
      ['%25', []],
    ] as const)
      assert.deepEqual(await shown(`${problems}?text=${words}`), found, words);
    const { text: filtered } = await visitor.get(problems);
    const codes = filtered.matchAll(/<option value="([^"]*)"/g);
    assert.deepEqual(
      Array.from(codes, ([, code]) => code),
      ['', 'not_found'],
    );

    const problemsForm = formOf(filtered, `${problems}/csv`);
    const { text: problemsFile } = await visitor.post(`${problems}/csv`, problemsForm.fields);
    assert.match(problemsFile, /,2,recipient,not_found,/);

    // A search by text examines 50,000 row numbers at a time.
    const renumber = (from: number, to: number): Promise<unknown> =>
      db.sql(
        `UPDATE batch_rows SET number=${to} WHERE number=${from} AND batch_id=${idLiteral(paid.id)}`,
      );
    await renumber(31, 60_000);
    const { text: part } = await visitor.get(`${path}?text=pay-31`);
    assert.match(part, /Nothing here[^]*continues on the next page/);
    const [, on = ''] = /rel="next"\s+href="([^"]*)"/.exec(part) ?? [];
    assert.deepEqual(await shown(on.replaceAll('&amp;', '&')), ['Row 60000']);

    await renumber(60_000, 31);

    const query = '?status=paid&text=pay-3';
    const { fields } = formOf(
      (await visitor.get(path + query)).text,
      `${path}/csv?status=paid&amp;text=pay-3`,
    );
    const file = await visitor.post(`${path}/csv${query}`, fields);
    const [heading = '', ...lines] = file.text.trim().split('\r\n');
    assert.equal(
      heading,
      'Id,Row,Recipient,Amount,Asset,Fee,Description,Reference,Status,Payout,Details,Reason,Message,Settled',
    );
    assert.deepEqual(
      lines.map((line) => line.split(',')[1]),
      ['3', '30', '31'],
    );
    assert(
      lines.every((line) => line.includes(`"'@Nomina, 1"`)),
      file.text,
    );
    const exports = await desk.acts(paid.id);
    assert.deepEqual(
      exports.slice(-1).map((line) => [line.action, line.tenantId, parseDetails(line)]),
      [['list.export', paid.tenantId, { list: 'rows', rows: 3 }]],
    );
    assert.equal((await visitor.get(`${path}/csv${query}`)).headers.get('location'), path + query);
  });

  it('names hidden columns, unread sheets, and rows that were paid', async () => {
    const world = await BatchWorld.open(db);
    const payer = await world.account();
    const { id } = resourceOf(
      await world.upload(payer, readFileSync('test/batches/samples/seen/xlsxwriter.xlsx')),
    );
    await batchServiceOf(world.deps).validate(id, UNWATCHED);
    const { text } = await (await desk.staffed('olga')).get(`/batches/${id}`);
    for (const shown of [
      'amount, description, reference: hidden in the file, but read',
      'Notas, Segunda: visible in the file, not paid',
      ...['ambiguous sheet', 'already paid'],
    ])
      assert(text.includes(shown), shown);
  });
});
