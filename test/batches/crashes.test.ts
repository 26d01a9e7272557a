import assert from 'node:assert/strict';
import type { Account } from '../../src/db/entities/parties.js';
import type { PaymentEnd } from '../../src/batches/execution.js';
import { batchCuts } from '../campaigns/batch-cuts.js';
import { idLiteral, LEAST } from '../support/bank.js';
import { openDatabase, testDatabase } from '../support/database.js';
import { isCommit, Proxy } from '../support/proxy.js';
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

  it('a batch whose payment is interrupted between groups continues where it was and pays each row once', async () => {
    const { world, ana, payer } = await open();
    const batch = await world.executed(payer, fileOf(1_050));
    let ends = 0;
    for (let end: PaymentEnd = 'cut_off'; end === 'cut_off'; ends += 1) {
      const abort = new AbortController();
      const heartbeat = (settled: number): void => {
        if (settled >= 200) abort.abort();
      };
      end = await world.pay(batch, { signal: abort.signal, heartbeat });
      assert(end === 'cut_off' || end === 'over', end);
    }
    assert(ends > 2);
    assert.equal((await world.batch(batch.id)).status, 'completed');
    assert.equal((await balanceOf(db.database, ana.id)).available, sumOf(1_050));
  });

  it('a batch whose payment is interrupted and that several pay at the same time pays each row once', async () => {
    const { world, ana, payer } = await open();
    const batch = await world.executed(payer, fileOf(800));
    const others = [await BatchWorld.open(db), await BatchWorld.open(db)];
    const ends = await Promise.all([world, ...others].map((one) => one.pay(batch)));
    while ((await world.pay(batch)) !== 'over') continue;
    assert(ends.every((end) => end === 'over' || end === 'unavailable'));
    assert.equal((await balanceOf(db.database, ana.id)).available, sumOf(800));
    assert.deepEqual(await world.events(), ['bonus_batch.ready', 'bonus_batch.completed']);
  });

  for (const fate of ['cut_before', 'cut_after', 'cut_racing'] as const)
    it(`a batch whose payment is interrupted by connections that are ${fate} at COMMIT ends as if nothing had been`, async () => {
      const proxy = await Proxy.open(db.url);
      const database = openDatabase(proxy.through(db.url));
      const { world, ana, payer } = await open({ database, writer: { commandTimeoutMs: 1_000 } });
      const batch = await world.executed(payer, fileOf(1_000));
      let commits = 0;
      proxy.fateOf = (data) => (isCommit(data) && (commits += 1) % 3 === 0 ? fate : 'pass');
      let calls = 0;
      while ((await world.pay(batch)) !== 'over') calls += 1;
      assert(proxy.cuts >= 3 && calls < 150, `${proxy.cuts} cuts, ${calls} calls`);
      proxy.fateOf = () => 'pass';
      assert.equal((await world.batch(batch.id)).status, 'completed');
      assert.equal((await balanceOf(db.database, ana.id)).available, sumOf(1_000));
      assert.deepEqual(await world.events(), ['bonus_batch.ready', 'bonus_batch.completed']);
      await database.close();
      await proxy.close();
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
    await batchCuts({ db, rows: 4_000, every: 5, settled: 300 });
  });
});
