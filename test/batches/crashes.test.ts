import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { BatchExecution, type PaymentEnd } from '../../src/batches/execution.js';
import type { Account } from '../../src/db/entities/parties.js';
import { brokenFileCampaign } from '../campaigns/broken-files.js';
import { idLiteral, LEAST } from '../helpers/bank.js';
import { openDatabase, testDatabase } from '../helpers/database.js';
import { isCommit, Proxy } from '../helpers/proxy.js';
import { balanceOf } from '../helpers/world.js';
import { BatchWorld, codeOf, fileMaker, payroll, resourceOf, UNWATCHED } from './support.js';

const FILE = payroll([['$ana', LEAST.toString(), 'COPM']]);

const FATES = ['cut_before', 'cut_after', 'cut_racing'] as const;

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

  it('a batch that several processes pay at the same time pays each row once', async () => {
    const { world, ana, payer } = await open();
    const batch = await world.executed(payer, fileOf(250));
    const others = [await BatchWorld.open(db), await BatchWorld.open(db)];
    const ends = await Promise.all([world, ...others].map((one) => one.pay(batch)));
    while ((await world.pay(batch)) !== 'over') continue;
    assert(ends.every((end) => end === 'over' || end === 'unavailable'));
    assert.equal((await balanceOf(db.database, ana.id)).available, sumOf(250));
    assert.deepEqual(await world.events(), ['bonus_batch.ready', 'bonus_batch.completed']);
  });

  it('a batch that several end at the same time, and whose files cannot be written, has one event of its end', async () => {
    const { world, payer } = await open();
    const batch = await world.executed(payer, fileOf(2));
    await world.execution.payNextGroup(batch.id, 2);
    const files = fileMaker(db.database);
    files.generateIfPossible = () => Promise.resolve(null);
    const execution = new BatchExecution({ ...world.deps, baseUrl: 'https://money.test', files });
    const ends = await Promise.all([1, 2].map(() => execution.pay(batch.id, UNWATCHED)));
    assert.deepEqual(ends.toSorted(), ['over', 'unavailable']);
    assert.deepEqual(await world.events(), ['bonus_batch.ready', 'bonus_batch.completed']);
  });

  it('a row that cannot be decided does not keep the other rows of a batch from being paid, and is paid later', async () => {
    const { world, ana, payer } = await open();
    const batch = await world.executed(payer, fileOf(250));
    const row = `batch_id=${idLiteral(batch.id)} AND number=120`;
    // A fee that goes nowhere: a fault of ours, not a rule.
    await db.sql(`UPDATE batch_rows SET fee_raw=1 WHERE ${row}`);
    assert.equal(await world.pay(batch), 'unavailable');
    assert.equal((await world.batch(batch.id)).rowsPaid, 249);
    assert(world.watched.faults.length > 0);
    await db.sql(`UPDATE batch_rows SET fee_raw=0 WHERE ${row}`);
    assert.equal(await world.pay(batch), 'over');
    assert.equal((await balanceOf(db.database, ana.id)).available, sumOf(250));
  });

  it('by cut connections and cut-off calls, again and again, is paid once and to the last unit', async () => {
    const proxy = await Proxy.open(db.url);
    const database = openDatabase(proxy.through(db.url));
    const { world, ana, payer } = await open({ database, writer: { commandTimeoutMs: 2_000 } });
    const batch = await world.executed(payer, fileOf(1_500));
    let [commits, calls] = [0, 0];
    proxy.fateOf = (data) =>
      isCommit(data) && (commits += 1) % 2 === 0 ? FATES[(commits / 2) % 3]! : 'pass';
    for (let end: PaymentEnd = 'interrupted'; end !== 'over'; calls += 1) {
      const abort = new AbortController();
      const heartbeat = (done: number): void => {
        if (done >= 100 * (1 + (calls % 7) / 15)) abort.abort();
      };
      end = await world.pay(batch, { signal: abort.signal, heartbeat });
    }
    proxy.fateOf = () => 'pass';
    const { status, rowsPaid, rowsFailed } = await world.batch(batch.id);
    assert.deepEqual([status, rowsPaid, rowsFailed], ['completed', 1_500, 0]);
    assert.equal((await balanceOf(db.database, ana.id)).available, sumOf(1_500));
    assert.deepEqual(await world.events(), ['bonus_batch.ready', 'bonus_batch.completed']);
    assert(proxy.cuts >= 5, `${proxy.cuts} cuts`);
    await database.close();
    await proxy.close();
  });
});

describe('an upload whose response is lost', () => {
  for (const fate of ['cut_before', 'cut_after'] as const)
    it(`its COMMIT ${fate}: no response is wrong, and the same key makes one batch`, async () => {
      const proxy = await Proxy.open(db.url);
      const database = openDatabase(proxy.through(db.url));
      const shaky = await BatchWorld.open(db, { database, timeoutMs: 1_000 });
      const from = await shaky.account();
      proxy.fateOf = (data) => (isCommit(data) ? fate : 'pass');
      const key = randomUUID();
      const first = await shaky.upload(from, FILE, key);
      const answer = fate === 'cut_before' ? 'ledger_unavailable' : undefined;
      assert.deepEqual([codeOf(first), first.replayed], [answer, false]);
      proxy.fateOf = () => 'pass';
      const again = resourceOf(await shaky.upload(from, FILE, key));
      const [count] = await db.sql(
        `SELECT COUNT(*) AS n FROM batches WHERE source_account_id=${idLiteral(from.id)}`,
      );
      assert.equal(Number(count!.n), 1);
      if (first.outcome.done) assert.equal(first.outcome.resource.id, again.id);
      await database.close();
      await proxy.close();
    });
});

/** `npm run prove -- broken-files` has ten thousand. */
const FILES = 90;

describe('broken files', () => {
  it(`all ${FILES} broken files of zip, XML and CSV end as 400 or rejected`, async () => {
    const { ends } = await brokenFileCampaign(db, { seed: 15, files: FILES, maxMs: 60_000 });
    for (const end of ['zip 400', 'zip rejected', 'xml rejected', 'csv rejected'])
      assert((ends.get(end) ?? 0) > 0, `none is ${end}`);
  });
});
