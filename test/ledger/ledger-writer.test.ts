import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { idempotencyKeys } from '../../src/db/entities/ledger.js';
import { transfers } from '../../src/db/entities/operations.js';
import type { Account } from '../../src/db/entities/parties.js';
import { type Decision, rowKey } from '../../src/ledger/writer/types.js';
import { idLiteral } from '../helpers/bank.js';
import { openDatabase, testDatabase } from '../helpers/database.js';
import { move, SHORT_OF_FUNDS, testKind } from '../helpers/kinds.js';
import { isCommit, Proxy } from '../helpers/proxy.js';
import {
  balanceOf,
  makeAccount,
  makeTenant,
  openWriter,
  type TestTenant,
  type WatchedWriter,
} from '../helpers/world.js';

const db = await testDatabase();

describe('the ledger writer', () => {
  let watched: WatchedWriter;
  let tenant: TestTenant;
  let payer: Account;
  let receiver: Account;

  beforeEach(async () => {
    watched = openWriter(db.database);
    const deps = { database: db.database, writer: watched.writer };
    tenant = await makeTenant(db.database);
    payer = await makeAccount(deps, tenant, { funds: { COPM: 1_000n } });
    receiver = await makeAccount(deps, tenant);
  });

  const available = async (account: Account): Promise<bigint> =>
    (await balanceOf(db.database, account.id)).available;

  it('returns no result before its commit', async () => {
    const proxy = await Proxy.open(db.url);
    const database = openDatabase(proxy.through(db.url));
    const { writer } = openWriter(database);
    proxy.fateOf = (data) => (isCommit(data) ? 'stall' : 'pass');
    let answered = false;
    const command = move({ from: payer, to: receiver, raw: 7n });
    const answer = writer.submit(testKind, command).then((given) => {
      answered = true;
      return given;
    });
    await sleep(300);
    assert.equal(answered, false);
    assert.equal(
      await db.database.reader.find(idempotencyKeys, { idempotencyKey: command.key }),
      undefined,
    );
    proxy.fateOf = () => 'pass';
    proxy.resume();
    assert((await answer).outcome.done);
    assert.equal(await available(receiver), 7n);
    await database.close();
    await proxy.close();
  });

  it('a row that cannot be read fails only the commands that need it, and not the others of their group', async () => {
    const { writer, faults } = watched;
    const bound = move({ from: payer, to: receiver, raw: 1n });
    const { outcome } = await writer.submit(testKind, bound);
    assert(outcome.done);
    const { id } = outcome.resource;
    const set = (metadata: string): Promise<number> =>
      db.change(`UPDATE transfers SET metadata=${metadata} WHERE id=${idLiteral(id)}`);
    const { keysToRead, ...others } = move({ from: payer, to: receiver, raw: 2n });
    const unreadable = [...keysToRead, rowKey(transfers, { id })];
    const needing = { ...others, keysToRead: unreadable };
    const lost: typeof testKind = {
      ...testKind,
      accounts: () => Promise.reject(new TypeError('unexpected value')),
    };
    await set("'{'");
    for (const fails of [
      () => writer.submit(testKind, needing),
      () => writer.submit(testKind, bound),
      () => writer.submit(lost, move({ from: payer, to: receiver, raw: 3n })),
    ]) {
      const other = move({ from: payer, to: receiver, raw: 4n });
      const [failed, done] = await Promise.all([fails(), writer.submit(testKind, other)]);
      assert(!failed.outcome.done && failed.outcome.refusal.code === 'ledger_unavailable');
      assert(done.outcome.done);
    }
    assert.equal(faults.length, 3);
    await set('NULL');
    assert.equal((await writer.submit(testKind, bound)).replayed, true);
    assert.equal(await available(receiver), 13n);
  });

  it('commands that arrive before a group has sent COMMIT share the next group, unless the group waits too long for its locks', async () => {
    const proxy = await Proxy.open(db.url);
    const database = openDatabase(proxy.through(db.url));
    for (const [maxGatherMs, sizes] of [
      [60_000, [1, 2]],
      [1, [1, 1, 1]],
    ] as const) {
      const { writer, groups } = openWriter(database, { maxGatherMs });
      const submit = () => writer.submit(testKind, move({ from: payer, to: receiver, raw: 1n }));
      const first = { isLocking: false };
      proxy.fateOf = (data) => {
        if (first.isLocking || !data.includes('FOR UPDATE')) return 'pass';
        first.isLocking = true;
        return 'stall';
      };
      const answers = [submit()];
      while (!first.isLocking) await sleep(5);
      for (const _ of [1, 2]) {
        const answer = submit();
        answers.push(answer);
        await (maxGatherMs === 1 ? answer : sleep(5));
      }
      proxy.resume();
      for (const { outcome } of await Promise.all(answers)) assert(outcome.done);
      await writer.idle();
      assert.deepEqual(groups, sizes);
    }
    await database.close();
    await proxy.close();
  });

  it('shows each command of a group the changes of the earlier ones', async () => {
    const commands = Array.from({ length: 12 }, () =>
      move({ from: payer, to: receiver, raw: 100n }),
    );
    const answers = await Promise.all(
      commands.map((command) => watched.writer.submit(testKind, command)),
    );
    assert.deepEqual(
      answers.map((answer) => answer.outcome.done),
      [...Array<boolean>(10).fill(true), false, false],
    );
    assert.equal(await available(payer), 0n);
  });

  it('keeps apart one key of two tenants, and two contents of one key, in one group', async () => {
    const key = randomUUID();
    const deps = { database: db.database, writer: watched.writer };
    const other = await makeTenant(db.database);
    const foreign = await makeAccount(deps, other, { funds: { COPM: 5n } });
    const commands = [
      move({ from: payer, to: receiver, raw: 3n, key }),
      move({ from: foreign, to: await makeAccount(deps, other), raw: 5n, key }),
      move({ from: payer, to: receiver, raw: 4n, key }),
    ];
    await watched.writer.idle();
    const answers = await Promise.all(
      commands.map((command) => watched.writer.submit(testKind, command)),
    );
    await watched.writer.idle();
    assert.equal(watched.groups.at(-1), 3);
    assert.deepEqual(
      answers.map(({ outcome, replayed }) => [
        outcome.done ? outcome.resource.raw : outcome.refusal.code,
        replayed,
      ]),
      [
        [3n, false],
        [5n, false],
        ['idempotency_key_reused', false],
      ],
    );
    assert.deepEqual([await available(receiver), await available(foreign)], [3n, 0n]);
  });

  it('returns a bound refusal with the same message forever', async () => {
    const command = move({ from: payer, to: receiver, raw: 1_001n });
    const first = await watched.writer.submit(testKind, command);
    assert.deepEqual(first, { outcome: { done: false, refusal: SHORT_OF_FUNDS }, replayed: false });
    await watched.writer.submit(testKind, move({ from: payer, to: receiver, raw: 1n }));
    const again = await openWriter(db.database).writer.submit(testKind, command);
    assert.deepEqual(again, { outcome: { done: false, refusal: SHORT_OF_FUNDS }, replayed: true });
  });

  it('fails only the command whose decision throws', async () => {
    const thrower = move({
      from: payer,
      to: receiver,
      raw: 5n,
      spoil: () => {
        throw new Error('a fault of ours');
      },
    });
    const answers = await Promise.all([
      watched.writer.submit(testKind, move({ from: payer, to: receiver, raw: 1n })),
      watched.writer.submit(testKind, thrower),
      watched.writer.submit(testKind, move({ from: payer, to: receiver, raw: 2n })),
    ]);
    const [, failed] = answers;
    assert.deepEqual(
      answers.map(({ outcome }) => outcome.done),
      [true, false, true],
    );
    assert(!failed.outcome.done && failed.outcome.refusal.code === 'ledger_unavailable');
    assert.equal(watched.faults.length, 1);
    assert.equal(await available(receiver), 3n);
  });

  type Writes = Decision<never>['writes'];
  const spoils: Readonly<Record<string, (writes: Writes) => Writes>> = {
    'overdraws an account': (writes) => scale(writes, 2_000n),
    'does not balance': (writes) => ({
      ...writes,
      postings: writes.postings!.map((posting) => ({
        ...posting,
        entries: posting.entries.slice(0, 1),
      })),
    }),
    'posts nothing': (writes) => ({
      ...writes,
      postings: writes.postings!.map((posting) => ({ ...posting, entries: [] })),
    }),
    'balances only over two assets together': (writes) => ({
      ...writes,
      postings: writes.postings!.map((posting) => ({
        ...posting,
        entries: posting.entries.map((entry, index) => ({
          ...entry,
          asset: index === 0 ? 'COPM' : 'DUSD',
        })),
      })),
    }),
    'releases a missing hold': (writes) => ({
      ...writes,
      holds: [{ change: 'release', resourceId: payer.id, raw: 1n }],
    }),
    'returns more of a month than was used': (writes) => ({
      ...writes,
      months: writes.months!.map((month) => ({ ...month, raw: -10n })),
    }),
    'posts to an account that is not locked': (writes) => ({
      ...writes,
      postings: writes.postings!.map((posting) => ({
        ...posting,
        entries: posting.entries.map((entry) => ({ ...entry, accountId: tenant.tenant.id })),
      })),
    }),
  };

  for (const [what, spoil] of Object.entries(spoils))
    it(`refuses a decision that ${what}, and stores nothing of it`, async () => {
      const command = move({
        from: payer,
        to: receiver,
        raw: 1n,
        spoil: (decision) => ({ ...decision, writes: spoil(decision.writes) }),
      });
      const [answer, other] = await Promise.all([
        watched.writer.submit(testKind, command),
        watched.writer.submit(testKind, move({ from: payer, to: receiver, raw: 4n })),
      ]);
      assert(!answer.outcome.done && answer.outcome.refusal.code === 'ledger_unavailable');
      assert.equal((watched.faults[0]?.fault as Error).name, 'UnsoundDecision');
      assert(other.outcome.done);
      assert.equal(
        await db.database.reader.find(idempotencyKeys, { idempotencyKey: command.key }),
        undefined,
      );
      assert.equal(await available(receiver), 4n);
    });

  it('tries the commands of a group one by one when a statement fails because of one of them', async () => {
    const good = Array.from({ length: 3 }, () => move({ from: payer, to: receiver, raw: 3n }));
    // The CHECK of the entries refuses it: an entry of nothing.
    const bad = move({
      from: payer,
      to: receiver,
      raw: 1n,
      spoil: (decision) => ({ ...decision, writes: scale(decision.writes, 0n) }),
    });
    const answers = await Promise.all(
      [bad, ...good].map((command) => watched.writer.submit(testKind, command)),
    );
    assert.deepEqual(
      answers.map(({ outcome }) => outcome.done),
      [false, true, true, true],
    );
    assert(watched.retries.data_fault! >= 1);
    assert.equal(await available(receiver), 9n);
  });

  it('answers 503 at once when too many commands wait', async () => {
    const { writer, seen } = openWriter(db.database, { maxQueue: 6 });
    const order: number[] = [];
    const answers = Array.from({ length: 5 }, async (_, index) => {
      const answer = await writer.submit(testKind, move({ from: payer, to: receiver, raw: 1n }));
      order.push(index);
      return answer;
    });
    const shed = await Promise.all(answers.slice(3));
    assert.deepEqual(order, [3, 4], 'those that wait are answered later');
    for (const { outcome } of shed)
      assert(!outcome.done && outcome.refusal.code === 'ledger_unavailable');
    assert.equal(seen.shed, 2);
    assert((await Promise.all(answers.slice(0, 3))).every(({ outcome }) => outcome.done));
    assert.equal(await available(receiver), 3n);
  });
});

/** The entries and the month with every amount changed: still balanced. */
function scale(writes: Decision<never>['writes'], factor: bigint): Decision<never>['writes'] {
  return {
    ...writes,
    postings: (writes.postings ?? []).map((posting) => ({
      ...posting,
      entries: posting.entries.map((entry) => ({ ...entry, raw: entry.raw * factor })),
    })),
  };
}
