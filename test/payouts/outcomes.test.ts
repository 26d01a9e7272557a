import assert from 'node:assert/strict';
import type { Keyring } from '../../src/core/fingerprint.js';
import { type Clock, instant, systemClock } from '../../src/core/instant.js';
import { SCENARIOS } from '../../src/payouts/rails/simulated.js';
import type { Rail } from '../../src/payouts/rails/rail.js';
import { answered, idLiteral, LEAST, object } from '../helpers/bank.js';
import { type TestDatabase } from '../helpers/database.js';
import { balanceOf } from '../helpers/world.js';
import { say, ScriptedRail } from './scripted-rail.js';
import {
  assertSameStory,
  charge,
  HOLDER,
  paidTimes,
  type PayoutBank,
  railsOf,
  usePayouts,
  rowOf,
  railEventsOf,
  statusesOf,
} from './support.js';

describe('an approved payout', () => {
  let db: TestDatabase;
  let own: PayoutBank;
  usePayouts((opened) => void ({ db, own } = opened));

  it('is durably in progress before it is submitted to its rail under its id', async () => {
    const id = await own.pay(undefined, { description: 'for the shop' });
    const seen: string[] = [];
    const rail = new ScriptedRail(say('accepted'));
    const watching: Rail = {
      status: (key) => rail.status(key),
      void: (key) => rail.void(key),
      list: () => rail.list(),
      resolve: (key) => rail.resolve(key),
      submit: async (order) => {
        seen.push((await rowOf(db, id)).status);
        return rail.submit(order);
      },
    };
    await railsOf(db, { rail: watching }).submissions.submit(id);
    assert.deepEqual(seen, ['in_progress']);
    assert.deepEqual(rail.given, [
      {
        key: id,
        amount: { raw: LEAST, asset: 'COPM' },
        destination: {
          type: 'bank_account',
          country: 'CO',
          bankCode: '0007',
          accountType: 'savings',
          accountNumber: '4567891234099',
          holderName: HOLDER,
          holderDocument: 'CC-79456123',
        },
        description: 'for the shop',
      },
    ]);
    const shown = await own.get(id);
    assert.deepEqual([shown.status, shown.rail_reference], ['in_progress', 'R-1']);
    const { details } = answered(await own.act('cancel', id, own.bank.token), 409, 'invalid_state');
    assert.deepEqual(details, {
      current: 'in_progress',
      allowed: ['pending_approval', 'approved'],
    });
  });

  it('completing an approved payout spends the hold, and amount and fee leave as separate movements', async () => {
    const fees = await charge(own, 700n);
    const id = await own.pay();
    await railsOf(db).submissions.submit(id);
    const shown = await own.get(id);
    assert.deepEqual(statusesOf(shown), ['approved', 'in_progress', 'completed']);
    const balance = await balanceOf(db.database, own.source.id);
    assert.deepEqual(balance, { available: 9_999n * LEAST - 700n, held: 0n });
    const [fee, amount] = await own.movements();
    assert.deepEqual([amount?.kind, object(amount?.amount).raw], ['payout_out', LEAST.toString()]);
    assert.deepEqual(amount?.counterparty, {
      account_id: null,
      tenant: null,
      alias: null,
      display_name: HOLDER,
      type: 'bank_account',
    });
    assert.deepEqual(
      [amount.related, fee?.related],
      [
        { type: 'payout', id },
        { type: 'payout', id },
      ],
    );
    assert.deepEqual([fee?.kind, object(fee?.counterparty).account_id], ['fee_out', fees.id]);
    assert.equal((await balanceOf(db.database, fees.id)).available, 700n);
    await assertSameStory(own, id);
  });

  it('a failed payout releases the hold and the monthly allowance, and has a message of the service', async () => {
    const id = await own.pay('01');
    await railsOf(db).submissions.submit(id);
    const shown = await own.get(id);
    assert.deepEqual(statusesOf(shown), ['approved', 'in_progress', 'failed']);
    assert.deepEqual(shown.failure, { code: 'account_closed', message: 'the account is closed' });
    assert.deepEqual(await balanceOf(db.database, own.source.id), {
      available: 10_000n * LEAST,
      held: 0n,
    });
    assert.equal((await own.movements()).filter(({ kind }) => kind !== 'payin_in').length, 0);
    await assertSameStory(own, id);
  });

  it('a returned payout gives back the amount, but not the fee', async () => {
    await charge(own, 700n);
    const all = 10_000n * LEAST - 700n;
    const id = await own.pay('05', { raw: all });
    let now: Clock = systemClock;
    const rails = railsOf(db, { clock: () => now() });
    await rails.submissions.submit(id);
    assert.equal((await own.get(id)).status, 'completed');
    assert.deepEqual(await rails.simulated.dueReports(10), []);
    now = () => instant(Date.now() + 10_000);
    const [report] = (await rails.simulated.dueReports(100)).filter(({ key }) => key === id);
    assert(report !== undefined);
    assert.equal(await rails.callbacks.report('simulated', report), 'applied');
    const shown = await own.get(id);
    assert.deepEqual(statusesOf(shown), ['approved', 'in_progress', 'completed', 'returned']);
    assert.equal(object(shown.failure).code, 'account_blocked');
    assert.deepEqual(await balanceOf(db.database, own.source.id), { available: all, held: 0n });
    const [back] = await own.movements();
    assert.deepEqual(
      [back?.kind, object(back?.counterparty).type],
      ['adjustment_in', 'bank_account'],
    );
    assert.equal(await rails.callbacks.report('simulated', report), 'replayed');
    await assertSameStory(own, id);
  });

  it('with an unknown outcome stays in progress and is polled', async () => {
    const id = await own.pay();
    const rail = new ScriptedRail('silent', 'silent', 'silent', say('accepted'), say('completed'));
    const { submissions } = railsOf(db, { rail });
    assert.equal((await submissions.submit(id)).payout.status, 'in_progress');
    // Submitted again, it is asked about.
    for (const turn of ['submit', 'poll', 'poll'] as const)
      assert.equal((await submissions[turn](id)).payout.status, 'in_progress');
    assert.equal((await submissions.poll(id)).payout.status, 'completed');
    assert.equal(rail.given.length, 1);
    assert.deepEqual(
      (await railEventsOf(db, id)).map(({ kind, effect }) => `${kind} ${effect}`),
      [
        'submission sent',
        'submission no_answer',
        'inquiry no_answer',
        'inquiry no_answer',
        'inquiry noted',
        'inquiry applied',
      ],
    );
    await assertSameStory(own, id);
  });

  it('a payout that its rail accepted and later denies is flagged and not submitted again', async () => {
    const id = await own.pay();
    const rail = new ScriptedRail(say('accepted'), null);
    const { submissions } = railsOf(db, { rail });
    await submissions.submit(id);
    await submissions.poll(id);
    assert.equal(rail.given.length, 1);
    const { status, stuckReason } = await rowOf(db, id);
    assert.deepEqual([status, stuckReason], ['in_progress', 'contradiction']);
  });

  it('a payout without an outcome for too long is flagged once, until its outcome is known', async () => {
    const id = await own.pay();
    const rail = new ScriptedRail('silent', say('completed'));
    let now: Clock = systemClock;
    const { stuck, submissions } = railsOf(db, { rail, clock: () => now() });
    await submissions.submit(id);
    await stuck.flagSilent(60_000, 100);
    assert.equal((await rowOf(db, id)).stuckSince, null);
    now = () => instant(Date.now() + 61_000);
    assert((await stuck.flagSilent(60_000, 100)) >= 1);
    const { stuckReason } = await rowOf(db, id);
    assert.equal(stuckReason, 'no_outcome');
    await submissions.poll(id);
    const settled = await rowOf(db, id);
    assert.deepEqual(
      [settled.status, settled.stuckSince, settled.stuckReason],
      ['completed', null, null],
    );
  });

  it('a completed payout that was returned is found by polling, even without a callback', async () => {
    const rail = new ScriptedRail(say('completed'), say('completed'), say('returned'));
    let now: Clock = systemClock;
    const { submissions, poller } = railsOf(db, { rail, clock: () => now() });
    await db.change('UPDATE payouts SET next_poll_at=NULL WHERE next_poll_at IS NOT NULL');
    const id = await own.pay();
    await submissions.submit(id);
    for (const [hours, status] of [
      [1, 'completed'],
      [2, 'returned'],
    ] as const) {
      const { nextPollAt, endedAt } = await rowOf(db, id);
      assert.equal(nextPollAt! - endedAt!, hours * 3_600_000);
      now = () => instant(nextPollAt! - 1);
      assert.equal(await poller.pollDue('simulated', 10), 0);
      now = () => nextPollAt!;
      assert.equal(await poller.pollDue('simulated', 10), 1);
      assert.equal((await rowOf(db, id)).status, status);
    }
    assert.equal((await rowOf(db, id)).nextPollAt, null);
    assert.equal((await balanceOf(db.database, own.source.id)).available, 10_000n * LEAST);
    await assertSameStory(own, id);
  });

  it('a payout that a callback reports as returned during a poll is not polled again', async () => {
    const rail = new ScriptedRail(say('completed'));
    const { submissions, callbacks, poller } = railsOf(db, { rail });
    const id = await own.pay();
    await submissions.submit(id);
    rail.status = async () => {
      await callbacks.report('simulated', { key: id, ...say('returned'), callbackId: `c-${id}` });
      return say('completed');
    };
    await db.change(`UPDATE payouts SET next_poll_at='2020-01-01' WHERE id=${idLiteral(id)}`);
    assert.equal(await poller.pollDue('simulated', 1), 1);
    const { status, nextPollAt } = await rowOf(db, id);
    assert.deepEqual([status, nextPollAt], ['returned', null]);
  });

  it('a payout that cannot be sent is not begun, and no attempt is counted: its rail is not configured, or the key of its bank account is unknown', async () => {
    const unknown: Keyring = [{ id: 'other', secret: Buffer.alloc(32, 8) }];
    for (const [parts, reason] of [
      [{ rails: new Map() }, /^the rail simulated is not configured$/],
      [{ rail: new ScriptedRail(null), encryptionKeys: unknown }, /ENCRYPTION_KEYS/],
    ] as const)
      for (const status of ['approved', 'in_progress'] as const) {
        const id = await own.pay();
        if (status === 'in_progress')
          await railsOf(db, { rail: new ScriptedRail('silent') }).submissions.submit(id);
        const before = await rowOf(db, id);
        const { submissions, silent } = railsOf(db, parts);
        const failure = await (
          status === 'approved' ? submissions.submit(id) : submissions.poll(id)
        ).then(
          () => silent[0],
          (fault: unknown) => String(fault),
        );
        assert.match(failure ?? '', reason);
        assert.deepEqual(await rowOf(db, id), before);
        const sent = (await railEventsOf(db, id)).filter(({ effect }) => effect === 'sent');
        assert.equal(sent.length, before.attempts);
      }
  });

  it('is paid once even if activities run twice, late or concurrently', async () => {
    const ids = await Promise.all(SCENARIOS.map(({ ending }) => own.pay(ending ?? undefined)));
    const [one, other] = [railsOf(db), railsOf(db)];
    for (let round = 0; round < 3; round += 1)
      await Promise.all(
        ids.flatMap((id) =>
          [one, other].flatMap(({ submissions }) => [submissions.submit(id), submissions.poll(id)]),
        ),
      );
    assert.deepEqual(
      await paidTimes(db, ids),
      ids.map(() => 1),
    );
    assert.deepEqual([...one.faults, ...other.faults], []);
    for (const id of ids) await assertSameStory(own, id);
  });

  it('that is canceled during its submission is either canceled or paid, never both, in 30 attempts', async () => {
    const { submissions } = railsOf(db);
    const ids = await Promise.all(Array.from({ length: 30 }, () => own.pay()));
    await Promise.all(
      ids.map(async (id, index) => {
        const cancel = () => own.act('cancel', id, own.bank.token);
        const submit = () => submissions.submit(id);
        await Promise.all(index % 2 === 0 ? [cancel(), submit()] : [submit(), cancel()]);
      }),
    );
    const paid = await paidTimes(db, ids);
    assert.deepEqual(
      await Promise.all(ids.map(async (id) => (await own.get(id)).status)),
      paid.map((times) => (times === 1 ? 'completed' : 'canceled')),
    );
    for (const id of ids) await assertSameStory(own, id);
  });
});
