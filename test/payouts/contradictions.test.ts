import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { closeAccount } from '../../src/accounts/status.js';
import type { Uuid } from '../../src/core/ids.js';
import { type Clock, instant, systemClock } from '../../src/core/instant.js';
import { approveResolution } from '../../src/payouts/release.js';
import { proposeResolution, rejectResolution } from '../../src/payouts/resolutions.js';
import { dayOf } from '../../src/payouts/statements/compare.js';
import { storeStatement } from '../../src/payouts/statements/store.js';
import { answered, LEAST, list, object } from '../support/bank.js';
import { type TestDatabase } from '../support/database.js';
import { assertLedgerSound, balanceOf, someone, TEST_ACTOR } from '../support/world.js';
import { say, ScriptedRail } from './scripted-rail.js';
import {
  assertSameStory,
  charge,
  type PayoutBank,
  railsOf,
  usePayouts,
  resolve,
  rowOf,
  saidOf,
  seen,
  statusesOf,
} from './support.js';

describe('a rail that contradicts the end we know', () => {
  let db: TestDatabase;
  let own: PayoutBank;
  const { over, tell: report } = usePayouts((opened) => void ({ db, own } = opened));

  /** A payout that has come to the end which the rail reports. */
  const ended = async (...report: Parameters<typeof say>) => {
    const id = await own.pay();
    const rails = over(say(...report));
    await rails.submissions.submit(id);
    const isStuck = async () => (await rowOf(db, id)).stuckReason === 'contradiction';
    const tell = (...next: Parameters<typeof say>) =>
      rails.callbacks.report('simulated', { key: id, ...say(...next), callbackId: randomUUID() });
    return { id, rails, isStuck, tell };
  };

  for (const [end, ...words] of [
    ['failed', 'accepted', 'completed', 'returned'],
    ['completed', 'failed', 'voided'],
    ['returned', 'failed', 'voided'],
  ] as const)
    for (const word of words)
      it(`a rail that contradicts the end we know is raised: ${word} after ${end}`, async () => {
        const { id, rails, tell, isStuck } = await ended(
          end,
          end === 'completed' ? null : 'account_closed',
        );
        assert.equal(await tell(word), 'conflict');
        assert(await isStuck());
        assert.deepEqual(rails.contradicted, ['simulated']);
        assert.equal((await rowOf(db, id)).status, end);
        await assertSameStory(own, id);
      });

  it('a rail that contradicts the end we know is raised: another reference, whatever was said', async () => {
    for (const end of ['completed', 'returned', 'failed'] as const) {
      const { tell, isStuck } = await ended(end);
      assert.equal(await tell(end), 'duplicate');
      assert(!(await isStuck()));
      assert.equal(await tell(end, null, 'R-2'), 'conflict');
      assert(await isStuck());
    }
  });

  it('a rail that contradicts the end we know is raised: another reference while it is in progress, and the outcome does not hide it', async () => {
    const { id, tell, isStuck } = await ended('accepted');
    assert.equal(await tell('failed', 'account_closed', 'R-2'), 'conflict');
    assert.equal((await rowOf(db, id)).status, 'in_progress');
    assert.equal(await tell('completed'), 'applied');
    assert(await isStuck());
    await assertSameStory(own, id);
  });

  it('a rail that contradicts the end we know is raised: another reference than that of the return, of what two people took for completed', async () => {
    const { id, rails, tell } = await ended('accepted', null, null);
    await resolve(rails, db, id, 'completed');
    assert.equal((await rowOf(db, id)).railReference, null);
    assert.equal(await tell('returned', 'account_closed', 'R-1'), 'applied');
    assert.equal((await rowOf(db, id)).railReference, 'R-1');
    assert.equal(await tell('completed', null, 'R-2'), 'conflict');
  });

  it('a rail that contradicts the end we know is raised: what was never given to it', async () => {
    const id = await own.pay();
    assert.equal(await report(id, 'accepted'), 'conflict');
    assert.equal((await rowOf(db, id)).stuckReason, 'contradiction');
    answered(await own.act('cancel', id, own.bank.token), 409, 'invalid_state');
  });

  describe('before it was handed over', () => {
    const expiresNow = (id: Uuid) =>
      db.change(
        `UPDATE payouts SET approval_expires_at='2020-01-01' WHERE id=X'${id.replaceAll('-', '')}'`,
      );
    /** One that waits for approval, of which its rail says that it has it. */
    const pending = async () => {
      await own.guard();
      const id = await own.pend();
      const rails = railsOf(db, { rail: new ScriptedRail(say('completed')) });
      assert.equal(await report(id, 'completed'), 'conflict');
      return { id, rails };
    };
    const held = async () => (await balanceOf(db.database, own.source.id)).held;

    it('a report of a payout before it was handed over keeps it from being rejected, canceled and expired: its hold stays', async () => {
      const { id, rails } = await pending();
      for (const action of ['reject', 'cancel'] as const) {
        const { details } = answered(await own.act(action, id), 409, 'invalid_state');
        assert.deepEqual(details, { current: 'pending_approval', allowed: [] });
      }
      await expiresNow(id);
      const looksAgain = Date.parse((await rails.approvals.expire(id)).expiresAt);
      assert(
        looksAgain > Date.now() + 1_800_000,
        'its workflow would look again at once, and for ever',
      );
      assert.equal(await rails.approvals.expireDue(100), 0);
      answered(await own.act('cancel', id), 409, 'invalid_state');
      assert.equal((await rowOf(db, id)).status, 'pending_approval');
      assert.equal(await held(), LEAST);
    });

    it('a report of a payout before it was handed over lets it be approved, even after its time, and ended once two people have settled it', async () => {
      const { id, rails } = await pending();
      await expiresNow(id);
      answered(await own.act('approve', id), 200);
      answered(await own.act('cancel', id), 409, 'invalid_state');
      assert.equal((await rails.submissions.submit(id)).payout.status, 'completed');
      assert.deepEqual(await balanceOf(db.database, own.source.id), {
        available: 9_999n * LEAST,
        held: 0n,
      });

      const other = await pending();
      await resolve(other.rails, db, other.id, 'unchanged');
      answered(await own.act('reject', other.id), 200);
      assert.equal(await held(), 0n);
    });

    it('a report of a payout before it was handed over keeps its last approval from rejecting it when its account may no longer send', async () => {
      const { id } = await pending();
      const source = `WHERE id=X'${own.source.id.replaceAll('-', '')}'`;
      await db.change(`UPDATE accounts SET status='frozen' ${source}`);
      answered(await own.act('approve', id), 409, 'invalid_state');
      assert.deepEqual([(await rowOf(db, id)).status, await held()], ['pending_approval', LEAST]);
      await db.change(`UPDATE accounts SET status='active' ${source}`);
      answered(await own.act('approve', id), 200);
    });
  });

  it('a rail that contradicts the end we know is raised: asked about what it paid, it never heard of it', async () => {
    const id = await own.pay();
    const { submissions, poller } = railsOf(db, {
      rail: new ScriptedRail(say('completed'), null),
    });
    await submissions.submit(id);
    await due(id);
    await poller.pollDue('simulated', 1_000);
    const { status, stuckReason } = await rowOf(db, id);
    assert.deepEqual([status, stuckReason], ['completed', 'contradiction']);
  });

  const due = (id: Uuid) =>
    db.change(
      `UPDATE payouts SET ask_at=IF(id=X'${id.replaceAll('-', '')}', '2026-01-01', NULL) WHERE ask_at IS NOT NULL`,
    );

  it('a rail that contradicts the end we know is raised again by a new report after it was settled, but never by the same one', async () => {
    const { id, rails, tell, isStuck } = await ended('failed', 'account_closed');
    await tell('completed', null, 'R-1');
    await resolve(rails, db, id, 'unchanged');
    assert(!(await isStuck()));
    assert.equal(await tell('completed', null, 'R-1'), 'settled');
    assert(!(await isStuck()));
    assert.equal(await tell('accepted', null, 'R-1'), 'conflict');
    assert(await isStuck());
    // What is raised is not settled before operators have decided again.
    assert.equal(await tell('completed', null, 'R-1'), 'conflict');
    await resolve(rails, db, id, 'unchanged');
    assert.equal(await tell('accepted', null, 'R-1'), 'settled');
    assert.equal((await rowOf(db, id)).askAt, null);
    await assertSameStory(own, id);
  });

  describe('while a resolution is proposed', () => {
    const approve = async ({ calls }: ReturnType<typeof railsOf>, id: Uuid) =>
      approveResolution({ calls, quietMs: () => 0 }, await seen(db, id), someone('leo'));
    /** Completed, contradicted, and proposed as right by somebody whose clock was ahead. */
    const proposed = async () => {
      const all = await ended('completed');
      assert.equal(await all.tell('failed', 'account_closed'), 'conflict');
      const ahead = railsOf(db, { clock: () => instant(Date.now() + 3_000) });
      const wanted = {
        outcome: 'unchanged',
        reason: 'the bank has looked',
        by: someone('maria'),
      } as const;
      await proposeResolution(ahead.writer, await seen(db, all.id), wanted);
      return all;
    };

    it('a report that contradicts while a resolution is proposed is settled by nobody who has not seen it: the proposal of before is refused', async () => {
      const { id, rails, tell, isStuck } = await proposed();
      assert.equal(await tell('completed', null, 'R-2'), 'conflict');
      await assert.rejects(
        approve(rails, id),
        /the rail has said something new about it since it was proposed as unchanged/,
      );
      assert(await isStuck());
      await rejectResolution(rails.writer, await seen(db, id), someone('leo'));
      await resolve(rails, db, id, 'unchanged');
      assert.equal(await tell('completed', null, 'R-2'), 'settled');
    });

    it('a report that contradicts while a resolution is proposed is settled if it only repeats what the proposer has seen', async () => {
      const { id, rails, tell, isStuck } = await proposed();
      assert.equal(await tell('failed', 'account_closed'), 'conflict');
      await approve(rails, id);
      assert(!(await isStuck()));
    });
  });

  it('a rail that contradicts the end we know is raised: accepted again after it was voided, even if it had been accepted before', async () => {
    const id = await own.pay();
    const rails = railsOf(db, { rail: new ScriptedRail(say('accepted'), say('voided')) });
    await rails.submissions.submit(id);
    await resolve(rails, db, id, 'failed');
    assert.equal(await report(id, 'accepted'), 'conflict');
    assert.equal((await rowOf(db, id)).stuckReason, 'contradiction');
  });

  it('a rail that contradicts the end we know is raised by a stored statement, even if the report was settled before the payout was submitted', async () => {
    const id = await own.pay();
    assert.equal(await report(id, 'failed'), 'conflict');
    await resolve(railsOf(db), db, id, 'unchanged');
    const { calls, submissions } = over('silent');
    const read = await rowOf(db, id);
    await submissions.submit(id);
    const { raw, asset } = read;
    const line = { number: 2, payoutKey: id, status: 'completed', raw, asset } as const;
    const lines = [{ ...line, reference: null, at: null }];
    const statement = { rail: 'simulated', day: dayOf(systemClock()), lines };
    await storeStatement(db.database, statement, TEST_ACTOR, systemClock());
    // The row was read before the payout was submitted.
    await calls.report(read, 'inquiry', say('failed'));
    const { status, stuckReason } = await rowOf(db, id);
    assert.deepEqual([status, stuckReason], ['in_progress', 'contradiction']);
  });

  it('a rail that contradicts the end we know is asked again, sooner than usual, by the sweeper', async () => {
    const id = await own.pay();
    const rail = new ScriptedRail(say('failed'), say('completed'), 'silent', say('failed'));
    let now: Clock = systemClock;
    const { submissions, poller } = railsOf(db, { rail, clock: () => now() });
    await submissions.submit(id);
    assert.equal((await rowOf(db, id)).askAt, null);
    await report(id, 'completed');
    const { askAt, stuckSince } = await rowOf(db, id);
    assert(askAt !== null && stuckSince !== null);
    assert.equal(askAt - stuckSince, 60_000);
    now = () => askAt;
    await due(id);
    await poller.pollDue('simulated', 1_000);
    assert.deepEqual(rail.asked, [id]);
    const later = await rowOf(db, id);
    assert.equal(later.askAt, instant(askAt + 60_000));
    assert.equal(later.stuckSince, stuckSince);
  });

  describe('and was right: two people settle a failed payout as completed', () => {
    it('settling a failed payout as completed takes the amount and the fee, charges the month again, and both ends have their events', async () => {
      const fees = await charge(own, 700n);
      const { id, rails, tell } = await ended('failed', 'account_closed');
      assert.deepEqual(await balanceOf(db.database, own.source.id), {
        available: 10_000n * LEAST,
        held: 0n,
      });
      await tell('completed');
      const settled = await resolve(rails, db, id, 'completed');
      assert.deepEqual([settled.status, settled.stuckSince], ['completed', null]);
      const shown = await own.get(id);
      assert.deepEqual(statusesOf(shown), ['approved', 'in_progress', 'failed', 'completed']);
      assert.equal(shown.failure, null);
      assert.deepEqual(await balanceOf(db.database, own.source.id), {
        available: 9_999n * LEAST - 700n,
        held: 0n,
      });
      assert.equal((await balanceOf(db.database, fees.id)).available, 700n);
      const { limits } = answered(
        await own.bank.get(`/v1/accounts/${own.source.id}/limits`),
        200,
      ).json;
      const month = object(list(limits).find(({ asset }) => asset === 'COPM')!.month);
      assert.equal(month.used, LEAST.toString());
      const movements = (await own.movements()).slice(0, 2);
      assert.deepEqual(
        movements.map(({ kind, related }) => [kind, related]),
        ['fee_out', 'payout_out'].map((kind) => [kind, { type: 'payout', id }]),
      );
      await assertSameStory(own, id);
      // What it said is what is known now; it may come back as any other.
      assert.equal(await tell('completed'), 'duplicate');
      assert.equal(await tell('failed', 'account_closed'), 'settled');
      assert.equal(await tell('returned', 'account_closed'), 'applied');
      assert.equal((await own.get(id)).status, 'returned');
      await assertSameStory(own, id);
      await assertLedgerSound(db.database);
    });

    it('settling a failed payout as completed by two people is refused once the account that gets the fee is closed', async () => {
      const fees = await charge(own, 700n);
      const { id, rails, tell } = await ended('failed', 'account_closed');
      await tell('completed');
      await charge(own, 700n);
      await closeAccount(db.deps, fees.id, {
        reason: 'it moved away',
        actor: TEST_ACTOR,
      });
      await assert.rejects(
        resolve(rails, db, id, 'completed'),
        /the account that gets its fee is closed: resolve it as/,
      );
      assert.equal((await rowOf(db, id)).status, 'failed');
      await rejectResolution(rails.writer, await seen(db, id), someone('leo'));
      assert.equal((await resolve(rails, db, id, 'unchanged')).stuckSince, null);
    });

    it('settling a failed payout as completed by two people is refused if the account lacks the funds: nothing is overdrawn', async () => {
      const { id, rails, tell, isStuck } = await ended('failed', 'account_closed');
      await own.pay(undefined, { raw: 10_000n * LEAST });
      await tell('completed');
      await assert.rejects(resolve(rails, db, id, 'completed'), /were requested/);
      assert(await isStuck());
      assert.equal((await rowOf(db, id)).status, 'failed');
      assert.deepEqual(
        (await saidOf(db, id)).map(({ kind, effect }) => `${kind} ${effect}`),
        ['submission sent', 'submission applied', 'callback conflict'],
      );
    });
  });
});
