import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Uuid } from '../../src/core/ids.js';
import { answered, idLiteral, LEAST, list, object, setStatus } from '../helpers/bank.js';
import { type TestDatabase } from '../helpers/database.js';
import { assertLedgerSound, balanceOf } from '../helpers/world.js';
import { say, ScriptedRail } from './scripted-rail.js';
import {
  assertSameStory,
  charge,
  type PayoutBank,
  railsOf,
  usePayouts,
  resolve,
  rowOf,
  railEventsOf,
  statusesOf,
} from './support.js';

describe('a rail that contradicts the known outcome', () => {
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

  for (const [end, word] of [
    ['failed', 'completed'],
    ['completed', 'failed'],
    ['returned', 'voided'],
  ] as const)
    it(`a payout is flagged if its rail reports ${word} after ${end}`, async () => {
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

  it('a payout in progress is flagged by a report with another reference, and the outcome does not hide it', async () => {
    const { id, tell, isStuck } = await ended('accepted');
    assert.equal(await tell('failed', 'account_closed', 'R-2'), 'conflict');
    assert.equal((await rowOf(db, id)).status, 'in_progress');
    assert.equal(await tell('completed'), 'applied');
    assert(await isStuck());
    await assertSameStory(own, id);
  });

  it('a payout that a rail reports although it was never submitted is flagged', async () => {
    const id = await own.pay();
    assert.equal(await report(id, 'accepted'), 'conflict');
    assert.equal((await rowOf(db, id)).stuckReason, 'contradiction');
    answered(await own.act('cancel', id, own.bank.token), 409, 'invalid_state');
  });

  describe('before the submission of the payout', () => {
    const expiresNow = (id: Uuid) =>
      db.change(`UPDATE payouts SET approval_expires_at='2020-01-01' WHERE id=${idLiteral(id)}`);
    /** One that waits for approval, of which its rail says that it has it. */
    const pending = async () => {
      await own.guard();
      const id = await own.createPending();
      const rails = railsOf(db, { rail: new ScriptedRail(say('completed')) });
      assert.equal(await report(id, 'completed'), 'conflict');
      return { id, rails };
    };
    const held = async () => (await balanceOf(db.database, own.source.id)).held;

    it('a report of a payout before its submission prevents its rejection, cancellation and expiry: its hold stays', async () => {
      const { id, rails } = await pending();
      for (const action of ['reject', 'cancel'] as const) {
        const { details } = answered(await own.act(action, id), 409, 'invalid_state');
        assert.deepEqual(details, { current: 'pending_approval', allowed: [] });
      }
      await setStatus(db, own.source, 'frozen');
      answered(await own.act('approve', id), 409, 'invalid_state');
      await setStatus(db, own.source, 'active');
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

    it('a payout with a report before its submission can be approved, even after its expiry, and ends once two people have settled it', async () => {
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
  });

  it('a flag that two people have settled is raised again by a new report, but never by the same one', async () => {
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
    assert((await rowOf(db, id)).nextPollAt !== null, 'the rail has not denied the payment again');
    await assertSameStory(own, id);
  });

  describe('when two people settle a failed payout as completed', () => {
    it('settling a failed payout as completed takes the amount and the fee, charges the month again, and each of the two outcomes has its event', async () => {
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

    it('settling a failed payout as completed by two people is refused if the account lacks the funds: nothing is overdrawn', async () => {
      const { id, rails, tell, isStuck } = await ended('failed', 'account_closed');
      await own.pay(undefined, { raw: 10_000n * LEAST });
      await tell('completed');
      await assert.rejects(resolve(rails, db, id, 'completed'), /were requested/);
      assert(await isStuck());
      assert.equal((await rowOf(db, id)).status, 'failed');
      assert.deepEqual(
        (await railEventsOf(db, id)).map(({ kind, effect }) => `${kind} ${effect}`),
        ['submission sent', 'submission applied', 'callback conflict'],
      );
    });
  });
});
