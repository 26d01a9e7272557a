import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { instant, systemClock } from '../../src/core/instant.js';
import type { Account } from '../../src/db/entities/parties.js';
import { deleteUploadedBytes } from '../../src/batches/sweeps.js';
import { idLiteral, LEAST } from '../support/bank.js';
import { openDatabase, testDatabase } from '../support/database.js';
import { isCommit, Proxy } from '../support/proxy.js';
import { BatchWorld, codeOf, payroll, resourceOf } from './support.js';

const FILE = payroll([['$ana', LEAST.toString(), 'COPM']]);

const db = await testDatabase();

describe('the upload of a batch', () => {
  let world: BatchWorld;
  let source: Account;

  beforeEach(async () => {
    world = await BatchWorld.open(db);
    source = await world.account();
    await world.account({ alias: '$ana' });
  });

  const chunks = async (): Promise<number> => {
    const [row] = await db.sql(
      `SELECT COUNT(*) AS n FROM upload_chunks WHERE batch_id IN (SELECT id FROM bonus_batches WHERE tenant_id=${idLiteral(world.tenant.tenant.id)})`,
    );
    return Number(row!.n);
  };

  for (const [fate, answer] of [
    ['cut_before', 'ledger_unavailable'],
    ['cut_after', undefined],
  ] as const)
    it(`the upload of a batch whose COMMIT is ${fate}: nothing is said that is not so, and the same key makes one batch`, async () => {
      const proxy = await Proxy.open(db.url);
      const database = openDatabase(proxy.through(db.url));
      const shaky = await BatchWorld.open(db, { database, timeoutMs: 1_000 });
      const from = await shaky.account();
      proxy.fateOf = (data) => (isCommit(data) ? fate : 'pass');
      const key = randomUUID();
      const first = await shaky.upload(from, FILE, key);
      assert.deepEqual([codeOf(first), first.replayed], [answer, false]);
      proxy.fateOf = () => 'pass';
      const again = resourceOf(await shaky.upload(from, FILE, key));
      const [count] = await db.sql(
        `SELECT COUNT(*) AS n FROM bonus_batches WHERE source_account_id=${idLiteral(from.id)}`,
      );
      assert.equal(Number(count!.n), 1);
      if (first.outcome.done) assert.equal(first.outcome.resource.id, again.id);
      await database.close();
      await proxy.close();
    });

  it('the upload of a batch keeps the hash when the bytes are deleted, only after validation and a set time', async () => {
    const [old, open] = [await world.ready(source, FILE), await world.uploaded(source, FILE)];
    await deleteUploadedBytes(
      { database: db.database, clock: systemClock },
      instant(old.validatedAt!),
    );
    assert.equal(await chunks(), 2);
    assert.equal(
      await deleteUploadedBytes(
        { database: db.database, clock: systemClock },
        instant(old.validatedAt! + 1),
      ),
      1,
    );
    assert.equal(await chunks(), 1);
    assert.deepEqual((await world.batch(old.id)).fileSha256, old.fileSha256);
    assert.equal((await world.validate(open.id)).sameFileBatchId, old.id);
  });
});
