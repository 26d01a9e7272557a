import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { createConnection } from 'mysql2/promise';
import type { Database } from '../../src/db/database.js';
import { uuid } from '../../src/db/columns.js';
import { idempotencyKeys } from '../../src/db/entities/ledger.js';
import type { Account } from '../../src/db/entities/parties.js';
import { openDatabase, testDatabase, untilLockIsAwaited } from '../helpers/database.js';
import { move, SHORT_OF_FUNDS, testKind } from '../helpers/kinds.js';
import { type Fate, Proxy } from '../helpers/proxy.js';
import {
  assertLedgerSound,
  balanceOf,
  makeAccount,
  makeTenant,
  openWriter,
  type WatchedWriter,
} from '../helpers/world.js';

const db = await testDatabase();

describe('the ledger writer during faults of MySQL', () => {
  let proxy: Proxy;
  let database: Database;
  let payer: Account;
  let receiver: Account;

  beforeEach(async () => {
    proxy = await Proxy.open(db.url);
    database = openDatabase(proxy.through(db.url));
    const deps = { database: db.database, writer: openWriter(db.database).writer };
    const tenant = await makeTenant(db.database);
    payer = await makeAccount(deps, tenant, { funds: { COPM: 1_000n } });
    receiver = await makeAccount(deps, tenant);
  });

  afterEach(async () => {
    await database.close();
    await proxy.close();
    await assertLedgerSound(db.database);
  });

  const one = () => move({ from: payer, to: receiver, raw: 1n });
  const isUnavailable = ({
    outcome,
  }: Awaited<ReturnType<WatchedWriter['writer']['submit']>>): boolean =>
    !outcome.done && outcome.refusal.code === 'ledger_unavailable';
  const first = (fate: Fate, wanted: (data: Buffer) => boolean) => {
    let isDue = true;
    return (data: Buffer): Fate => {
      if (!isDue || !wanted(data)) return 'pass';
      isDue = false;
      return fate;
    };
  };

  it('the ledger writer tries again on a new connection when one breaks before COMMIT', async () => {
    const watched = openWriter(database);
    proxy.fateOf = first('cut_after', (data) => data.includes('FOR UPDATE'));
    const answer = await watched.writer.submit(testKind, one());
    assert(answer.outcome.done && !answer.replayed);
    assert.equal(watched.retries.unavailable, 1);
    assert.equal((await balanceOf(db.database, receiver.id)).available, 1n);
  });

  it('the ledger writer finds a command by its key if it was committed although the connection broke', async () => {
    const watched = openWriter(database);
    proxy.fateOf = first('cut_after', (data) => data.includes('INSERT INTO entries'));
    const answer = await watched.writer.submit(testKind, one());
    assert(answer.outcome.done && !answer.replayed);
    assert.equal(watched.seen.unknown, 1);
    assert.equal((await balanceOf(db.database, receiver.id)).available, 1n);
  });

  for (const cut of ['cut_before', 'cut_after', 'cut_racing'] as const)
    it(`a connection cut at COMMIT (${cut}) while the next group locks the same account leaves both results true`, async () => {
      const watched = openWriter(database, { maxGatherMs: 60_000, commandTimeoutMs: 6_000 });
      const isNext = { locking: true, commit: true };
      proxy.fateOf = (data) => {
        const step = data.includes('INSERT INTO entries') ? 'commit' : 'locking';
        if (!isNext[step] || !/INSERT|FOR UPDATE/.test(data.toString('latin1'))) return 'pass';
        isNext[step] = false;
        return step === 'commit' ? cut : 'stall';
      };
      const lost = watched.writer.submit(testKind, one());
      while (isNext.locking) await sleep(5);
      const next = watched.writer.submit(testKind, one());
      await sleep(5);
      proxy.resume();
      const [first, second] = await Promise.all([lost, next]);
      assert(second.outcome.done && !second.replayed);
      assert.equal(watched.seen.unknown, 1);
      if (cut !== 'cut_racing') assert.equal(first.outcome.done, cut === 'cut_after');
      const { available } = await balanceOf(db.database, receiver.id);
      assert.equal(available, first.outcome.done ? 2n : 1n);
    });

  it('the ledger writer continues with other commands while it is unknown whether a group was committed', async () => {
    const watched = openWriter(database, { commandTimeoutMs: 6_000 });
    proxy.fateOf = (data) => (data.includes('INSERT INTO entries') ? 'cut_before' : 'pass');
    const lost = watched.writer.submit(testKind, one());
    while (watched.seen.unknown === 0) await sleep(20);
    proxy.fateOf = () => 'pass';
    const other = watched.writer.submit(testKind, one()).then(({ outcome }) => outcome.done);
    assert.equal(await Promise.race([lost.then(() => 'lost'), other]), true);
    assert(isUnavailable(await lost));
  });

  it('the ledger writer answers with the result of another process that has used its key since a lost COMMIT', async () => {
    const watched = openWriter(database, { commandTimeoutMs: 10_000 });
    const command = one();
    proxy.fateOf = first('cut_before', (data) => data.includes('INSERT INTO entries'));
    const lost = watched.writer.submit(testKind, command);
    while (watched.seen.unknown === 0) await sleep(20);
    const again = move({ from: payer, to: receiver, raw: 1n, key: command.key });
    const other = await openWriter(db.database).writer.submit(testKind, again);
    assert(other.outcome.done && !other.replayed);
    assert.deepEqual(await lost, { ...other, replayed: true });
    assert.equal((await balanceOf(db.database, receiver.id)).available, 1n);
  });

  it('the ledger writer answers 503 at once while MySQL refuses connections, and is normal once it accepts them again', async () => {
    const { writer } = openWriter(database);
    assert((await writer.submit(testKind, one())).outcome.done);
    proxy.refuse();
    const began = performance.now();
    assert(isUnavailable(await writer.submit(testKind, one())));
    assert(performance.now() - began < 10_000, 'long before its time is over');
    proxy.allow();
    assert((await writer.submit(testKind, one())).outcome.done);
  });

  it('the ledger writer answers 503 within 5 s while MySQL does not answer, and is normal when it does again', async () => {
    const { writer } = openWriter(database, { commandTimeoutMs: 2_000 });
    assert((await writer.submit(testKind, one())).outcome.done);
    proxy.stall();
    const began = performance.now();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => writer.submit(testKind, one())),
    );
    assert(answers.every(isUnavailable));
    assert(performance.now() - began < 5_000);
    proxy.resume();
    assert((await writer.submit(testKind, one())).outcome.done);
  });

  it('the ledger writer releases its slots if connections hang forever in the middle of a group', async () => {
    const { writer } = openWriter(database, { commandTimeoutMs: 700 });
    for (let count = 0; count < 6; count += 1) {
      proxy.fateOf = first('stall', (data) => data.includes('INSERT INTO'));
      assert(isUnavailable(await writer.submit(testKind, one())));
    }
    await writer.idle();
    assert((await writer.submit(testKind, one())).outcome.done);
  });

  it('the ledger writer never decides a command whose time passed while it waited', async () => {
    const { writer } = openWriter(db.database, {
      commandTimeoutMs: 300,
      groupsInFlight: 1,
      maxGroup: 1,
    });
    let open: (() => void) | undefined;
    const gate = new Promise<void>((resolve) => (open = resolve));
    const slow: typeof testKind = {
      ...testKind,
      accounts: async (commands, reader, isRetry) => {
        await gate;
        return testKind.accounts(commands, reader, isRetry);
      },
    };
    const commands = [one(), one()];
    const answers = await Promise.all([
      writer.submit(slow, commands[0]!),
      writer.submit(testKind, commands[1]!),
    ]);
    assert(answers.every(isUnavailable));
    open?.();
    await writer.idle();
    for (const { key } of commands)
      assert.equal(
        await db.database.reader.find(idempotencyKeys, { idempotencyKey: key }),
        undefined,
      );
  });

  it('the ledger writer waits for a lock that another session holds, and tries again when the wait has timed out', async () => {
    const watched = openWriter(db.database);
    const other = await createConnection({ uri: db.adminUrl });
    await other.beginTransaction();
    await other.query(`SELECT id FROM accounts WHERE id=${uuid.literal(payer.id)} FOR UPDATE`);
    const answer = watched.writer.submit(testKind, one());
    while ((watched.retries.lock_wait ?? 0) === 0) await sleep(50);
    await other.rollback();
    await other.end();
    assert((await answer).outcome.done);
  });

  it('a command that waited for the locks of another process is decided on the balance that this process left', async () => {
    const most = () => move({ from: payer, to: receiver, raw: 700n });
    const holding = { isStalled: false };
    proxy.fateOf = first('stall', (data) => {
      holding.isStalled ||= data.includes('INSERT INTO entries');
      return holding.isStalled;
    });
    const holder = openWriter(database).writer.submit(testKind, most());
    while (!holding.isStalled) await sleep(5);
    const waiting = openWriter(db.database).writer.submit(testKind, most());
    await untilLockIsAwaited(db);
    proxy.resume();
    assert((await holder).outcome.done);
    assert.deepEqual((await waiting).outcome, { done: false, refusal: SHORT_OF_FUNDS });
  });

  it('the ledger writer repeats a group whose transaction the server ends because of a deadlock', async () => {
    const watched = openWriter(db.database);
    const [low, high] = [payer.id, receiver.id].sort() as [typeof payer.id, typeof payer.id];
    const other = await createConnection({ uri: db.adminUrl });
    // On a slow machine the group's wait for its lock can end just before there is a deadlock.
    while (!watched.retries.rolled_back) {
      await other.beginTransaction();
      // Heavier than the group's transaction, so that this one is not the victim.
      await other.query(
        `INSERT INTO members (id, tenant_id, name, created_at) SELECT LEFT(UNHEX(SHA2(seq, 256)), 16), ${uuid.literal(payer.tenantId)}, CONCAT('m', seq), NOW(3)
       FROM (SELECT ROW_NUMBER() OVER () AS seq FROM information_schema.columns LIMIT 300) AS numbers`,
      );
      await other.query(`SELECT id FROM accounts WHERE id=${uuid.literal(high)} FOR UPDATE`);
      const answer = watched.writer.submit(testKind, one());
      await untilLockIsAwaited(db);
      await other.query(`SELECT id FROM accounts WHERE id=${uuid.literal(low)} FOR UPDATE`);
      await other.rollback();
      assert((await answer).outcome.done);
    }
    await other.end();
    assert.equal(watched.retries.rolled_back, 1);
  });
});
