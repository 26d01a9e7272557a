import assert from 'node:assert/strict';
import type { Database, Reader } from '../../src/db/database.js';
import { instant, type Instant, localTime } from '../../src/core/instant.js';
import { DatabaseClock } from '../../src/ledger/database-clock.js';
import { restores } from '../../src/db/entities/restores.js';
import { dailyTotals } from '../../src/db/entities/sweeps.js';
import { insertSql } from '../../src/db/statements.js';
import { newRestore } from '../../src/restores/begin-restore.js';
import { skipSequences } from '../../src/restores/finish-restore.js';
import { readTotals } from '../../src/support/reading/totals.js';
import { dailyTotalsSweep } from '../../src/support/totals-sweep.js';
import { startTestApi } from '../helpers/api.js';
import { answered, LEAST, openBank, text } from '../helpers/bank.js';
import { freshDatabase, testDatabase } from '../helpers/database.js';
import { openGuarded, THRESHOLD } from '../helpers/guarded.js';
import { assertLedgerSound, TEST_ACTOR } from '../helpers/world.js';

const db = await testDatabase();
const api = await startTestApi(db);
const own = await openGuarded(api);

describe('the daily totals of a tenant', () => {
  afterEach(() => assertLedgerSound(db.database));

  const later = (ms: number): Instant => instant(api.core.clock() + ms);
  /** Rounds of the sweep until nothing is left. */
  const sweep = async (now = later(0)): Promise<void> => {
    const { run } = dailyTotalsSweep({ database: api.core.database, clock: () => now });
    while (await run(new AbortController().signal));
  };
  /** Does something while the process's clock is slow. */
  const withSlowClock = async (ms: number, act: () => Promise<unknown>): Promise<void> => {
    const { now } = Date;
    const compare = () => new DatabaseClock().read(api.core.database.lookup);
    try {
      Date.now = () => now() - ms;
      await compare();
      await act();
    } finally {
      Date.now = now;
      await compare();
    }
  };
  const totals = () =>
    api.core.database.reader.select(dailyTotals, { tenantId: own.bank.tenant.tenant.id });

  it('count each end of a transfer once, and what is pending, in the tenant’s time zone', async () => {
    const { guarded: from, receiver: to } = own;
    await own.bank.sent({ from, to, raw: LEAST });
    await own.bank.sent({ from, to, raw: 2n * LEAST });
    const held = await own.bank.sent({ from, to, raw: 2n * LEAST, capture: 'manual' });
    const body = { amount: { raw: LEAST.toString(), asset: 'COPM' } };
    const capture = await own.bank.request('POST', `/v1/transfers/${text(held.id)}/capture`, {
      body,
    });
    answered(capture, 200);
    const [rejected, approved] = [await own.createPending(), await own.createPending()];
    await own.createPending();
    await own.act('reject', rejected.id, 'approver');
    await own.act('approve', approved.id, 'approver');
    await sweep();
    await Promise.all([sweep(), sweep()]);
    const { id: tenantId, timeZone } = own.bank.tenant.tenant;
    const expected = {
      ...{ tenantId, asset: 'COPM', day: localTime(later(0), timeZone).slice(0, 10) },
      ...{ moved: THRESHOLD + 4n * LEAST, movedCount: 4 },
      ...{ failed: THRESHOLD, failedCount: 1, pending: THRESHOLD, pendingCount: 1 },
    };
    assert.deepEqual(await totals(), [expected]);
    const [shown] = await readTotals(api.core.database.reader, [tenantId], later(0));
    assert.equal(shown?.days.length, 14);
    assert.equal(shown.days.at(-1)?.moved, expected.moved);
    assert.equal(shown.days.at(0)?.moved, 0n);
  });

  it('count bonuses once, after a minute, also of a process whose clock is slow, and drop operations that are no longer pending', async () => {
    const [before] = await totals();
    const { creator: token } = own.tokens;
    const body = {
      source_account: own.guarded.id,
      recipient: { account_id: own.receiver.id },
      amount: { raw: LEAST.toString(), asset: 'COPM' },
    };
    const bonus = async () =>
      answered(await own.bank.request('POST', '/v1/bonuses', { body, token }), 201);
    await sweep();
    await bonus();
    await withSlowClock(120_000, bonus);
    const waiting = await db.sql(`SELECT LOWER(HEX(resource_id)) AS id FROM holds WHERE remaining>0
      AND account_id=X'${own.guarded.id.replaceAll('-', '')}'`);
    for (const { id } of waiting)
      await own.act(
        'cancel',
        String(id).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'),
        'creator',
      );
    await sweep();
    assert.equal((await totals())[0]?.moved, before?.moved);
    await sweep(later(61_000));
    await sweep(later(122_000));
    const after = (await totals()).reduce((sum, { moved }) => sum + moved, 0n);
    assert.equal(after, (before?.moved ?? 0n) + 2n * LEAST);
    assert.equal((await totals()).find(({ day }) => day === before?.day)?.pending, 0n);
  });

  it('the daily totals of what is pending are read by the index of what is open, and never from what has ended', async () => {
    const { database } = api.core;
    const asked: string[] = [];
    const reader = Object.create(database.reader, {
      query: {
        value: (sql: string) => {
          asked.push(sql);
          return database.reader.query(sql);
        },
      },
    }) as Reader;
    const watched = Object.create(database, { reader: { value: reader } }) as Database;
    await dailyTotalsSweep({ database: watched, clock: () => later(0) }).run(
      new AbortController().signal,
    );
    const pending = asked.filter((sql) => sql.includes('pending_approval'));
    assert.equal(pending.length, 1);
    const plan = await db.sql(`EXPLAIN ${pending[0]}`);
    const reads = plan.filter(({ table }) => table === 't' || table === 'h');
    assert.equal(reads.length, 4);
    for (const { table, type } of reads)
      assert(
        ['range', 'ref', 'eq_ref'].includes(String(type)),
        `${String(table)}: ${String(type)}`,
      );
  });

  it('count in one round what follows the sequences that a restore skipped', async () => {
    // Of its own, since a restore moves the event logs of all tenants.
    const restored = await freshDatabase(db.adminUrl, `money_totals_${process.pid}`);
    const other = await startTestApi(restored);
    try {
      const { database, clock } = other.core;
      const bank = await openBank(other);
      const [from, to] = [
        await bank.account({ funds: { COPM: 9n * LEAST } }),
        await bank.account(),
      ];
      await bank.sent({ from, to, raw: LEAST });
      const lost = { restoredTo: clock(), lostUntil: clock(), skip: 36_000_000n };
      const restore = {
        ...{ ...newRestore('operator', clock()), ...lost, reason: 'a disk was lost' },
        finishedAt: clock(),
      };
      await restored.sql(insertSql(restores, [restore]));
      await skipSequences({ database, clock }, restore, TEST_ACTOR, () => undefined);
      await bank.sent({ from, to, raw: LEAST });
      const { run } = dailyTotalsSweep({ database, clock });
      assert.equal(await run(new AbortController().signal), false);
      const [total] = await database.reader.select(dailyTotals, {});
      assert.equal(total?.movedCount, 2);
      await assertLedgerSound(database);
    } finally {
      await other.stop();
      await restored.remove();
    }
  });
});
