import assert from 'node:assert/strict';
import type { Account } from '../../src/db/entities/parties.js';
import { performBatchAction } from '../../src/batches/control.js';
import { newId } from '../../src/core/ids.js';
import { idLiteral, LEAST } from '../helpers/bank.js';
import { heldUp, testDatabase } from '../helpers/database.js';
import { addStaff, proven } from '../helpers/staff.js';
import { assertLedgerSound, balanceOf, TEST_ACTOR } from '../helpers/world.js';
import { BatchWorld, cancelBatch, pauseBatch, payroll, resumeBatch } from './support.js';

const ROWS = 250;

const db = await testDatabase();

describe('an operator at a batch that is executing', () => {
  let world: BatchWorld;
  let payer: Account;
  let ana: Account;
  const file = payroll(Array.from({ length: ROWS }, () => ['$ana', LEAST.toString(), 'COPM']));

  beforeEach(async () => {
    world = await BatchWorld.open(db);
    ana = await world.account({ alias: '$ana' });
    payer = await world.account({ funds: { COPM: 1_000n * LEAST } });
  });

  const acts = async (): Promise<unknown[]> => {
    const rows = await db.sql(
      `SELECT action, actor_claimed, details FROM audit_log WHERE tenant_id=${idLiteral(world.tenant.tenant.id)}
       AND subject_type='bonus_batch' ORDER BY id`,
    );
    return rows.map(({ action, actor_claimed: actor, details }) => {
      const { reason, unchanged } = JSON.parse(String(details)) as Record<string, unknown>;
      return [action, actor, reason, ...(unchanged === true ? ['unchanged'] : [])];
    });
  };
  const received = async (): Promise<bigint> => (await balanceOf(db.database, ana.id)).available;

  it('an operator pauses an executing batch after the current group, and resumes it where it stopped', async () => {
    const batch = await world.executed(payer, file);
    let paused: Promise<unknown> | undefined;
    const heartbeat = (settled: number): void => {
      if (settled >= 100) paused ??= pauseBatch(world.deps, batch.id, TEST_ACTOR, 'ticket 7');
    };
    assert.equal(
      await world.pay(batch, { signal: new AbortController().signal, heartbeat }),
      'paused',
    );
    await paused;
    const now = await world.batch(batch.id);
    assert(now.rowsPaid >= 100 && now.rowsPaid < ROWS);
    assert.deepEqual([now.pausedBy, now.pauseReason], [TEST_ACTOR.name, 'ticket 7']);
    assert.equal(await world.pay(batch), 'paused');
    assert.deepEqual(await world.execution.payNextGroup(batch.id, 10), {
      tried: 0,
      settled: 0,
      unknown: 0,
    });
    assert.equal(await received(), BigInt(now.rowsPaid) * LEAST);
    await pauseBatch(world.deps, batch.id, TEST_ACTOR, 'ticket 7');
    await resumeBatch(world.deps, batch.id, TEST_ACTOR, 'ticket 7');
    await resumeBatch(world.deps, batch.id, TEST_ACTOR, 'ticket 7');
    assert.equal(await world.pay(batch), 'over');
    assert.equal(await received(), BigInt(ROWS) * LEAST);
    assert.deepEqual(await acts(), [
      ['bonus_batch.pause', 'test', 'ticket 7'],
      ['bonus_batch.pause', 'test', 'ticket 7', 'unchanged'],
      ['bonus_batch.resume', 'test', 'ticket 7'],
      ['bonus_batch.resume', 'test', 'ticket 7', 'unchanged'],
    ]);
  });

  it('an operator cannot pause a batch while a group of its rows is being paid: the pause would be overwritten', async () => {
    const batch = await world.executed(payer, file);
    const ofGroup = `SELECT id FROM accounts WHERE id=${idLiteral(payer.id)}`;
    const pause = () => pauseBatch(world.deps, batch.id, TEST_ACTOR, 'ticket 8');
    await heldUp(db, ofGroup, pause, async () =>
      assert.equal((await world.batch(batch.id)).pausedAt, null),
    );
    assert((await world.batch(batch.id)).pausedAt !== null);
  });

  it("an operator's repeated pause or resume of an executing batch changes nothing, even after later actions", async () => {
    const batch = await world.executed(payer, file);
    const by = proven(
      await addStaff(db.database, { name: 'who steers', rights: ['pause', 'cancel'] }),
      'temporal',
    );
    const isPaused = async (): Promise<boolean> => (await world.batch(batch.id)).pausedAt !== null;
    const act = (action: 'pause' | 'resume', actionId = newId()) => ({
      batchId: batch.id,
      action,
      by,
      reason: 'x',
      actionId,
    });
    const [pausing, resuming] = [act('pause'), act('resume')];
    assert('batch' in (await performBatchAction(world.deps, pausing)));
    assert('batch' in (await performBatchAction(world.deps, resuming)));
    assert('batch' in (await performBatchAction(world.deps, pausing)));
    assert.equal(await isPaused(), false);
    await performBatchAction(world.deps, act('pause'));
    const both = await Promise.all(
      [resuming, resuming].map((one) => performBatchAction(world.deps, one)),
    );
    assert(both.every((one) => 'batch' in one));
    assert.equal(await isPaused(), true);
    assert.equal((await acts()).length, 3);
    await performBatchAction(world.deps, act('resume'));
    assert.equal(await world.pay(batch), 'over');
    // Settled: a new action is refused, an old one was done.
    assert('refusal' in (await performBatchAction(world.deps, act('pause'))));
    assert.deepEqual((await acts()).at(-1), ['bonus_batch.pause_refused', 'who steers', 'x']);
    assert('batch' in (await performBatchAction(world.deps, resuming)));
  });

  it('canceling an executing batch pays no further row, releases its hold at once, and fails the remaining rows with canceled', async () => {
    const batch = await world.executed(payer, file);
    await world.execution.payNextGroup(batch.id, 120);
    await cancelBatch(world.deps, batch.id, TEST_ACTOR, ' wrong  month ');
    assert.deepEqual(await balanceOf(db.database, payer.id), { available: 880n * LEAST, held: 0n });
    await assertLedgerSound(db.database);
    await cancelBatch(world.deps, batch.id, TEST_ACTOR, 'again');
    await Promise.all([1, 2, 3].map(() => world.execution.payNextGroup(batch.id, 10)));
    assert.equal(await world.pay(batch), 'over');
    const now = await world.batch(batch.id);
    assert.deepEqual(
      [now.status, now.rowsPaid, now.rowsFailed],
      ['partially_failed', 120, ROWS - 120],
    );
    assert.deepEqual(
      new Set(
        (await world.rows(batch.id)).slice(120).map(({ status, code }) => `${status} ${code}`),
      ),
      new Set(['failed canceled']),
    );
    assert.deepEqual(await acts(), [['bonus_batch.cancel', 'test', 'wrong month']]);
    assert.deepEqual(await world.events(), ['bonus_batch.ready', 'bonus_batch.partially_failed']);
    assert.equal(await received(), 120n * LEAST);
  });

  it('a batch that is canceled at any moment of its payment has moved exactly the money of its paid rows', async () => {
    for (let round = 0; round < 3; round += 1) {
      const batch = await world.executed(
        payer,
        payroll(Array.from({ length: 30 }, () => ['$ana', LEAST.toString(), 'COPM'])),
      );
      const before = await received();
      const paying = (async () => {
        for (let group = 0; group < 10; group += 1) await world.execution.payNextGroup(batch.id, 3);
      })();
      await new Promise((resolve) => setTimeout(resolve, round * 20));
      const canceled = await cancelBatch(world.deps, batch.id, TEST_ACTOR, 'x').catch(() => null);
      await paying;
      await world.pay(batch);
      const now = await world.batch(batch.id);
      assert.deepEqual(
        [now.rowsPaid, now.rowsFailed],
        [canceled?.rowsPaid ?? 30, canceled === null ? 0 : 30 - canceled.rowsPaid],
      );
      assert.equal((await received()) - before, BigInt(now.rowsPaid) * LEAST);
      assert.equal((await balanceOf(db.database, payer.id)).held, 0n);
    }
  });

  it('an operator cannot pause, resume or cancel a batch in another state, a missing batch, or without a reason', async () => {
    const one = payroll([['$ana', LEAST.toString(), 'COPM']]);
    const [ready, paid] = [await world.ready(payer, one), await world.paid(payer, one)];
    for (const [act, { id, status: current }, allowed] of [
      [pauseBatch, ready, ['executing']],
      [resumeBatch, ready, ['executing']],
      [cancelBatch, paid, ['ready', 'executing']],
    ] as const)
      await assert.rejects(
        act(world.deps, id, TEST_ACTOR, 'x'),
        (error: { refusal?: { code: string; details: unknown } }) => {
          assert.deepEqual(
            [error.refusal?.code, error.refusal?.details],
            ['invalid_state', { current, allowed }],
          );
          return true;
        },
      );
    await assert.rejects(pauseBatch(world.deps, ready.id, TEST_ACTOR, ''), /reason/);
    await assert.rejects(cancelBatch(world.deps, payer.id, TEST_ACTOR, 'x'), /does not exist/);
    const batch = await world.executed(payer, payroll([['$ana', LEAST.toString(), 'COPM']]));
    await assert.rejects(cancelBatch(world.deps, batch.id, TEST_ACTOR, ' '), /reason/);
    await world.pay(batch);
  });
});
