import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { closeAccount } from '../../src/accounts/status.js';
import { MAX_RAW } from '../../src/core/amount.js';
import type { Uuid } from '../../src/core/ids.js';
import type { Account } from '../../src/db/entities/parties.js';
import { approveAdjustment, proposeAdjustment } from '../../src/funding/service.js';
import { stuckText } from '../../src/support/reading/payouts.js';
import { idLiteral, LEAST } from '../helpers/bank.js';
import { type TestDatabase } from '../helpers/database.js';
import { assertLedgerSound, balanceOf, findings, someone, TEST_ACTOR } from '../helpers/world.js';
import { say } from './scripted-rail.js';
import { assertSameStory, charge, type PayoutBank, usePayouts, resolve, rowOf } from './support.js';

describe('a payout whose outcome cannot be posted as usual', () => {
  let db: TestDatabase;
  let own: PayoutBank;
  const { given, over, standing, tell } = usePayouts((opened) => void ({ db, own } = opened));

  const balance = (id: Uuid) => balanceOf(db.database, id);
  const adjust = async ({ id: accountId }: Account, direction: 'in' | 'out', raw: bigint) => {
    const deps = { database: db.database, writer: over().writer };
    const { resource } = await proposeAdjustment(deps, {
      ...{
        tenantId: own.bank.tenant.tenant.id,
        accountId,
        direction,
        amount: { raw, asset: 'COPM' },
      },
      ...{ reference: `case-${randomUUID()}`, reason: 'a correction', by: someone('maria') },
    });
    await approveAdjustment(deps, resource, someone('leo'));
  };

  it('a payout that was returned to a closed account is flagged and found by the audit until two people have emptied the account', async () => {
    const all = 10_000n * LEAST;
    const id = await given(say('completed'), { raw: all });
    await closeAccount(db.deps, own.source.id, { reason: 'it moved away', actor: TEST_ACTOR });
    assert.equal(await tell(id, 'returned', 'account_blocked'), 'applied');
    assert.deepEqual(await standing(id), ['returned', 'account_closed']);
    assert.equal((await rowOf(db, id)).nextPollAt, null);
    assert.deepEqual(await balance(own.source.id), { available: all, held: 0n });
    assert.deepEqual(
      (await findings(db.database)).map(({ check, subject }) => [check, subject]),
      [['closed_balance', `account ${own.source.id} COPM`]],
    );
    assert.match(
      stuckText(await rowOf(db, id)) ?? '',
      /^it was returned after its account was closed/,
    );
    await assert.rejects(adjust(own.source, 'in', 1n), /closed/);
    await adjust(own.source, 'out', all);
    assert.deepEqual(await balance(own.source.id), { available: 0n, held: 0n });
    assert.deepEqual(await findings(db.database), []);
    assert.deepEqual(await standing(id), ['returned', 'account_closed']);
    await resolve(over(), db, id, 'unchanged');
    assert.deepEqual(await standing(id), ['returned', null]);
    await assertSameStory(own, id);
  });

  it('a payout whose fee cannot be posted because the fee account is full is flagged, polled again, and completed once there is room', async () => {
    const fees = await charge(own, 700n);
    const id = await own.pay();
    await adjust(fees, 'in', MAX_RAW - 100n);
    const { submissions } = over(say('completed'), say('completed'), say('completed'));
    await submissions.submit(id);
    assert.deepEqual(await standing(id), ['in_progress', 'overflow']);
    await submissions.poll(id);
    assert.equal(await tell(id, 'completed'), 'noted');
    assert.deepEqual(await standing(id), ['in_progress', 'overflow']);
    assert.equal((await balance(own.source.id)).held, LEAST + 700n);
    await adjust(fees, 'out', 1_000n);
    await submissions.poll(id);
    assert.deepEqual(await standing(id), ['completed', null]);
    assert.equal((await balance(fees.id)).available, MAX_RAW - 400n);
    await assertSameStory(own, id);
    await assertLedgerSound(db.database);
    await adjust(fees, 'out', MAX_RAW - 400n);
  });

  it('a payout whose return cannot be posted yet delays no other poll of its rail, and is returned later', async () => {
    const blocked = await given(say('completed'));
    const other = await own.bank.account({ funds: { COPM: LEAST } });
    const free = await given(say('completed'), { from: other });
    const shift = (ms: number) =>
      db.change(
        `UPDATE balances SET last_posted_at=last_posted_at+INTERVAL ${ms * 1_000} MICROSECOND WHERE account_id=${idLiteral(own.source.id)}`,
      );
    const setDue = (id: Uuid, day: number) =>
      db.change(`UPDATE payouts SET next_poll_at='2020-01-0${day}' WHERE id=${idLiteral(id)}`);
    await shift(3_600_000);
    await setDue(blocked, 1);
    await setDue(free, 2);
    const { poller } = over(say('returned'), say('returned'), say('returned'));
    await assert.rejects(poller.pollDue('simulated', 1), /ledger/);
    assert.equal(await poller.pollDue('simulated', 1), 1);
    assert.deepEqual(
      [await standing(blocked), await standing(free)].map(([status]) => status),
      ['completed', 'returned'],
    );
    await shift(-3_600_000);
    await setDue(blocked, 1);
    assert.equal(await poller.pollDue('simulated', 1), 1);
    assert.deepEqual(await standing(blocked), ['returned', null]);
    await assertSameStory(own, blocked);
  });

  it('a payout whose row cannot be read delays no other poll of its rail', async () => {
    const [unreadable, other] = [await given(say('completed')), await given(say('completed'))];
    const change = (id: Uuid, sql: string) =>
      db.change(`UPDATE payouts SET ${sql} WHERE id=${idLiteral(id)}`);
    await change(unreadable, "next_poll_at='2020-01-01', metadata='{'");
    await change(other, "next_poll_at='2020-01-02'");
    const { poller } = over(say('returned'));
    await assert.rejects(poller.pollDue('simulated', 1), SyntaxError);
    assert.equal(await poller.pollDue('simulated', 1), 1);
    assert.deepEqual(await standing(other), ['returned', null]);
    await change(unreadable, 'metadata=NULL');
  });

  it('a payout that cannot be returned because its account is full is flagged, polled again, and returned once there is room', async () => {
    const id = await given(say('completed'));
    const room = MAX_RAW - 9_999n * LEAST - 5n;
    await adjust(own.source, 'in', room);
    assert.equal(await tell(id, 'returned', 'account_closed'), 'noted');
    assert.deepEqual(await standing(id), ['completed', 'overflow']);
    assert((await rowOf(db, id)).nextPollAt !== null);
    await adjust(own.source, 'out', room);
    assert.equal(await tell(id, 'returned', 'account_closed'), 'applied');
    assert.deepEqual(await standing(id), ['returned', null]);
    assert.equal((await balance(own.source.id)).available, 10_000n * LEAST);
    await assertSameStory(own, id);
  });
});
