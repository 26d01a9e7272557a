import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { removeRole } from '../../src/access/members.js';
import { instant, systemClock } from '../../src/core/instant.js';
import type { Account } from '../../src/db/entities/parties.js';
import { deleteUploadedBytes } from '../../src/batches/sweeps.js';
import { idLiteral, LEAST } from '../support/bank.js';
import { openDatabase, testDatabase } from '../support/database.js';
import { isCommit, Proxy } from '../support/proxy.js';
import { TEST_ACTOR } from '../support/world.js';
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

  it('the upload of a batch makes a batch that is validating, with its bytes', async () => {
    const batch = await world.uploaded(source, FILE);
    assert.deepEqual(
      [
        batch.status,
        batch.rowCount,
        batch.asset,
        batch.createdBy,
        batch.fileBytes,
        batch.description,
      ],
      ['validating', 0, null, world.tenant.owner.id, FILE.length, 'November'],
    );
    assert.deepEqual(await world.batch(batch.id), batch);
    assert.equal(await chunks(), 1);
  });

  it('the upload of a batch replays the batch in its current state; another file with the key is 409', async () => {
    const key = randomUUID();
    const first = resourceOf(await world.upload(source, FILE, key));
    await world.validate(first.id);
    const again = await world.upload(source, FILE, key);
    assert(again.replayed);
    assert.deepEqual([resourceOf(again).id, resourceOf(again).status], [first.id, 'ready']);
    assert.equal(codeOf(await world.upload(source, payroll([]), key)), 'idempotency_key_reused');
    assert.equal(await chunks(), 1);
  });

  it('the upload of a batch makes one batch for many simultaneous requests of a key', async () => {
    const key = randomUUID();
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => world.upload(source, FILE, key)),
    );
    assert.equal(new Set(answers.map((answer) => resourceOf(answer).id)).size, 1);
    assert.equal(answers.filter(({ replayed }) => !replayed).length, 1);
    assert.equal(await chunks(), 1);
  });

  it('the upload of a batch finds nothing by the key of another tenant, whichever of the two is asked', async () => {
    const [own, other] = [world, await BatchWorld.open(db)];
    const [mine, theirs] = [await own.account(), await other.account()];
    const key = randomUUID();
    const file = payroll([['x', '1', 'COPM']]);
    const batches = [await own.upload(mine, file, key), await other.upload(theirs, file, key)];
    assert.deepEqual(
      batches.map(({ replayed }) => replayed),
      [false, false],
    );
    for (const [asked, account, batch] of [
      [own, mine, batches[0]!],
      [other, theirs, batches[1]!],
    ] as const) {
      const again = await asked.upload(account, file, key);
      assert.deepEqual([again.replayed, resourceOf(again).id], [true, resourceOf(batch).id]);
      const { items } = await asked.batches.list(asked.caller(), { idempotencyKey: key }, null, 10);
      assert.deepEqual(
        items.map((one) => one.batch.id),
        [resourceOf(batch).id],
      );
    }
  });

  it('the upload of a batch makes two batches of the same bytes under two keys', async () => {
    const [one, two] = [await world.uploaded(source, FILE), await world.uploaded(source, FILE)];
    assert.notEqual(one.id, two.id);
  });

  it('the upload of a batch answers 404 for a foreign or missing source, 403 without a role there, and leaves neither key nor bytes', async () => {
    const key = randomUUID();
    const stranger = await BatchWorld.open(db);
    for (const id of [(await stranger.account()).id, world.tenant.tenant.id])
      assert.equal(codeOf(await world.upload({ id }, FILE, key)), 'not_found');
    await removeRole(db.database, systemClock, world.tenant.owner, source.id, TEST_ACTOR);
    assert.equal(codeOf(await world.upload(source, FILE, key)), 'authority_insufficient');
    assert.equal(await chunks(), 0);
    const other = await world.account();
    assert(!(await world.upload(other, FILE, key)).replayed);
  });

  it('the upload of a batch answers a used key with its batch, even if the role has been lost since', async () => {
    const key = randomUUID();
    const { id } = resourceOf(await world.upload(source, FILE, key));
    await removeRole(db.database, systemClock, world.tenant.owner, source.id, TEST_ACTOR);
    assert.equal(resourceOf(await world.upload(source, FILE, key)).id, id);
  });

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

  it('the upload of a batch accepts 10 MiB', async () => {
    const file = Buffer.alloc(10 * 1024 * 1024, 'x');
    const batch = await world.uploaded(source, file);
    assert.equal(batch.fileBytes, file.length);
    assert.equal(await chunks(), 10);
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
