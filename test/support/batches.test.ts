import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { batchServiceOf, BatchWorld, resourceOf, UNWATCHED } from '../batches/support.js';
import type { Batch } from '../../src/db/entities/batches.js';
import { LEAST } from '../helpers/bank.js';
import { testDatabase } from '../helpers/database.js';
import { startTestDesk } from './desk.js';

const PAYROLL = 'recipient,amount,asset,description,reference\n$dora,100000,COPM,Nomina,PAY-001\n';

const db = await testDatabase();
const desk = await startTestDesk(db);

describe("a batch's page at the support desk", () => {
  it("a batch's page at the support desk lists the rows that were paid before, although the line endings of the file differ", async () => {
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

  it("a batch's page at the support desk says why the batch was rejected", async () => {
    const world = await BatchWorld.open(db);
    const payer = await world.account({ funds: { COPM: 10n * LEAST } });
    const file = Buffer.from(PAYROLL.replace('$dora', '$nobody-has-this'));
    const { id } = resourceOf(await world.upload(payer, file));
    await batchServiceOf(world.deps).validate(id, UNWATCHED);
    const { text } = await (await desk.staffed('nora')).get(`/batches/${id}`);
    for (const shown of ['the file has problems', 'Row 2', 'recipient', 'not_found'])
      assert(text.includes(shown), shown);
  });

  it("a batch's page at the support desk names hidden columns, unread sheets, and rows that were paid", async () => {
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
      ...['ambiguous_sheet', 'already_paid'],
    ])
      assert(text.includes(shown), shown);
  });
});
