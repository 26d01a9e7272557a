import assert from 'node:assert/strict';
import type { Account } from '../../src/db/entities/parties.js';
import { batchCuts } from '../campaigns/batch-cuts.js';
import { idLiteral, LEAST } from '../support/bank.js';
import { testDatabase } from '../support/database.js';
import { balanceOf } from '../support/world.js';
import { BatchWorld, payroll } from './support.js';

const db = await testDatabase();

describe('a batch whose payment is interrupted', () => {
  const amountOf = (index: number): bigint => LEAST + BigInt(index);
  const fileOf = (rows: number): Buffer =>
    payroll(
      Array.from({ length: rows }, (_, index) => ['$ana', amountOf(index).toString(), 'COPM']),
    );
  const sumOf = (rows: number): bigint =>
    Array.from({ length: rows }, (_, index) => amountOf(index)).reduce((sum, raw) => sum + raw, 0n);

  async function open(
    options: Parameters<typeof BatchWorld.open>[1] = {},
  ): Promise<{ world: BatchWorld; ana: Account; payer: Account }> {
    const world = await BatchWorld.open(db, options);
    const ana = await world.account({ alias: '$ana' });
    return { world, ana, payer: await world.account({ funds: { COPM: 100_000n * LEAST } }) };
  }

  it('a batch whose payment is interrupted and that several pay at the same time pays each row once', async () => {
    const { world, ana, payer } = await open();
    const batch = await world.executed(payer, fileOf(500));
    const others = [await BatchWorld.open(db), await BatchWorld.open(db)];
    const ends = await Promise.all([world, ...others].map((one) => one.pay(batch)));
    while ((await world.pay(batch)) !== 'over') continue;
    assert(ends.every((end) => end === 'over' || end === 'unavailable'));
    assert.equal((await balanceOf(db.database, ana.id)).available, sumOf(500));
    assert.deepEqual(await world.events(), ['bonus_batch.ready', 'bonus_batch.completed']);
  });

  it('a batch whose payment is interrupted by a row that cannot be decided pays all the others, and that row when it can be', async () => {
    const { world, ana, payer } = await open();
    const batch = await world.executed(payer, fileOf(250));
    const row = `batch_id=${idLiteral(batch.id)} AND number=120`;
    // A fee that goes nowhere: a fault of ours, not a rule.
    await db.sql(`UPDATE bonus_batch_rows SET fee_raw=1 WHERE ${row}`);
    assert.equal(await world.pay(batch), 'unavailable');
    assert.equal((await world.batch(batch.id)).rowsPaid, 249);
    assert(world.watched.faults.length > 0);
    await db.sql(`UPDATE bonus_batch_rows SET fee_raw=0 WHERE ${row}`);
    assert.equal(await world.pay(batch), 'over');
    assert.equal((await balanceOf(db.database, ana.id)).available, sumOf(250));
  });

  it('a batch whose payment is interrupted by cut connections and cut-off calls, again and again, is paid once and to the last unit', async () => {
    // The short form; `npm run prove -- batch-cuts` pays 20,000 rows.
    await batchCuts({ db, rows: 2_500, every: 4, settled: 200 });
  });
});
