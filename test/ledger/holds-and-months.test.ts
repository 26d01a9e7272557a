import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { holds, monthTotals } from '../../src/db/entities/ledger.js';
import type { Transfer } from '../../src/db/entities/operations.js';
import type { Account } from '../../src/db/entities/parties.js';
import { type Decision, rowKey } from '../../src/ledger/writer/types.js';
import { openDatabase, testDatabase } from '../helpers/database.js';
import { MONTH, move, reserve, settle, testKind } from '../helpers/kinds.js';
import {
  balanceOf,
  makeAccount,
  makeTenant,
  openWriter,
  type WatchedWriter,
} from '../helpers/world.js';

const db = await testDatabase();

describe('holds and monthly totals', () => {
  let watched: WatchedWriter;
  let payer: Account;
  let receiver: Account;

  beforeEach(async () => {
    watched = openWriter(db.database);
    const deps = { database: db.database, writer: watched.writer };
    const tenant = await makeTenant(db.database);
    payer = await makeAccount(deps, tenant, { funds: { COPM: 100n } });
    receiver = await makeAccount(deps, tenant);
  });

  const createPending = async (raw: bigint): Promise<Transfer> => {
    const { outcome } = await watched.writer.submit(
      testKind,
      reserve({ from: payer, to: receiver, raw }),
    );
    assert(outcome.done);
    return outcome.resource;
  };
  const used = async (): Promise<bigint> => {
    const total = await db.database.reader.find(monthTotals, {
      accountId: payer.id,
      asset: 'COPM',
      month: MONTH,
    });
    return total?.used ?? 0n;
  };

  it('a held amount cannot be spent', async () => {
    await createPending(80n);
    assert.deepEqual(await balanceOf(db.database, payer.id), { available: 20n, held: 80n });
    const { outcome } = await watched.writer.submit(
      testKind,
      move({ from: payer, to: receiver, raw: 21n }),
    );
    assert(!outcome.done && outcome.refusal.code === 'insufficient_funds');
  });

  it('a hold is spent once, and completely', async () => {
    const pending = await createPending(80n);
    const answers = await Promise.all(
      [1, 2, 3].map(() => watched.writer.submit(testKind, settle(pending, 'completed'))),
    );
    assert.equal(answers.filter(({ outcome }) => outcome.done).length, 1);
    assert.deepEqual(await balanceOf(db.database, payer.id), { available: 20n, held: 0n });
    assert.equal((await balanceOf(db.database, receiver.id)).available, 80n);
    assert.equal((await db.database.reader.find(holds, { resourceId: pending.id }))?.remaining, 0n);
    assert.equal(await used(), 80n);
  });

  it("a released hold restores the funds and its month's allowance", async () => {
    const pending = await createPending(80n);
    assert.equal(await used(), 80n);
    assert((await watched.writer.submit(testKind, settle(pending, 'rejected'))).outcome.done);
    assert.deepEqual(await balanceOf(db.database, payer.id), { available: 100n, held: 0n });
    assert.equal(await used(), 0n);
  });

  it('the release of more than the held amount is refused', async () => {
    const pending = await createPending(50n);
    await createPending(50n);
    for (const raw of [51n, -1n]) {
      const { outcome } = await watched.writer.submit(testKind, settle(pending, 'completed', raw));
      assert(!outcome.done && outcome.refusal.code === 'ledger_unavailable');
    }
    assert.equal(watched.faults.length, 2);
    assert.deepEqual(await balanceOf(db.database, payer.id), { available: 0n, held: 100n });
  });

  it('a hold is placed and settled in one group', async () => {
    const command = reserve({ from: payer, to: receiver, raw: 40n });
    const placed = watched.writer.submit(testKind, command);
    // The resource's id is known before it exists.
    const { outcome } = command.run({
      at: 0 as never,
      account: () => ({ balances: { COPM: { available: 100n, held: 0n } } }) as never,
      accountIfLocked: () => undefined,
      rows: () => [],
      row: () => undefined,
    });
    assert(outcome.done);
    const settled = watched.writer.submit(testKind, settle(outcome.resource, 'completed'));
    assert((await placed).outcome.done && (await settled).outcome.done);
    // A group is reported after its answers.
    await watched.writer.idle();
    assert.deepEqual(watched.groups.slice(-1), [2]);
    assert.equal((await balanceOf(db.database, receiver.id)).available, 40n);
  });

  it('two holds for one resource are refused', async () => {
    const command = reserve({ from: payer, to: receiver, raw: 10n });
    const twice = {
      ...command,
      run: (state: Parameters<typeof command.run>[0]): Decision<Transfer> => {
        const decision = command.run(state);
        return {
          ...decision,
          writes: {
            ...decision.writes,
            holds: [...decision.writes.holds!, ...decision.writes.holds!],
          },
        };
      },
    };
    assert(!(await watched.writer.submit(testKind, twice)).outcome.done);
    const { outcome } = await watched.writer.submit(testKind, command);
    assert(outcome.done);
    const stored = rowKey(holds, { resourceId: outcome.resource.id });
    const again = {
      ...command,
      key: randomUUID(),
      keysToRead: [...command.keysToRead, stored],
    };
    assert(!(await watched.writer.submit(testKind, again)).outcome.done);
    assert.deepEqual(
      watched.faults.map(({ fault }) => (fault as Error).name),
      ['UnsoundDecision', 'UnsoundDecision'],
    );
  });

  it('the total of a month counts every operation of a decision and of a group', async () => {
    const command = move({
      from: payer,
      to: receiver,
      raw: 10n,
      spoil: (decision) => ({
        ...decision,
        writes: {
          ...decision.writes,
          months: [4n, 6n].map((raw) => ({ ...decision.writes.months![0]!, raw })),
        },
      }),
    });
    await Promise.all([
      watched.writer.submit(testKind, command),
      watched.writer.submit(testKind, move({ from: payer, to: receiver, raw: 5n })),
    ]);
    assert.equal(await used(), 15n);
  });

  it('the total of a month is exact, although two processes use it at once', async () => {
    const second = openDatabase(db.url);
    const writers = [watched.writer, openWriter(second).writer];
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        writers[index % 2]!.submit(testKind, move({ from: payer, to: receiver, raw: 1n })),
      ),
    );
    assert(answers.every(({ outcome }) => outcome.done));
    assert.equal(await used(), 100n);
    await second.close();
  });
});
