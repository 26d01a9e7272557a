import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { lockAccount } from '../../src/accounts/access.js';
import { closeAccount, freezeAccount, unfreezeAccount } from '../../src/accounts/status.js';
import { setFeeAccount } from '../../src/accounts/fee.js';
import { type Instant, instant, toRfc3339 } from '../../src/core/instant.js';
import { ApiError } from '../../src/core/errors.js';
import { transact } from '../../src/db/transact.js';
import { startTestApi, type TestAnswer, type TestApi } from '../support/api.js';
import {
  answered,
  idLiteral,
  type Json,
  LEAST,
  object,
  openBank,
  setStatus,
  text,
} from '../support/bank.js';
import { testDatabase } from '../support/database.js';
import { describedApi } from '../support/described.js';
import {
  approvalsOf,
  assertEnded,
  EXPIRES_IN_S,
  type GuardedBank,
  openGuarded,
  THRESHOLD,
} from '../support/guarded.js';
import { setFee, TEST_ACTOR } from '../support/world.js';

const START = Date.parse('2036-05-10T12:00:00.000Z');
const DECIDED = { actor: TEST_ACTOR, reason: null };

const db = await testDatabase();

describe('a transfer that waits for approval ends', () => {
  let api: TestApi;
  let own: GuardedBank;
  let now: Instant;

  const at = (time: string): void => void (now = instant(Date.parse(time)));
  const pass = (ms: number): void => void (now = instant(now + ms));

  before(async () => {
    now = instant(START);
    api = await describedApi(await startTestApi(db, {}, { clock: () => now }));
  });

  beforeEach(async () => {
    now = instant(START);
    own = await openGuarded(api);
  });

  /** Nothing is held, nothing left, and nothing of the month is used. */
  async function assertGivenBack(before: Awaited<ReturnType<GuardedBank['money']>>): Promise<void> {
    assert.deepEqual(await own.money(), before);
    assert.equal(await own.used(), 0n);
    assert.equal(await own.bank.available(own.receiver), 0n);
  }

  describe('with the last approval', () => {
    const approve = (id: unknown): Promise<TestAnswer> => own.act('approve', id, 'approver');

    it('a transfer that waits for approval ends at the last approval as rejected with capability_cannot_send if its source is no longer verified', async () => {
      const before = await own.money();
      const { id } = await own.pend();
      await db.change(`UPDATE accounts SET verified_at=NULL WHERE id=${idLiteral(own.guarded.id)}`);
      const { json } = answered(await approve(id), 200);
      assert.equal(object(json.rejection).code, 'capability_cannot_send');
      await assertEnded(own, id, 'rejected', object(json.rejection));
      await assertGivenBack(before);
    });

    it('a transfer that waits for approval ends at the last approval as rejected with not_found if its destination was closed meanwhile', async () => {
      const before = await own.money();
      const { id } = await own.pend();
      await closeAccount(db.deps, own.receiver.id, DECIDED);
      const { json } = answered(await approve(id), 200);
      assert.deepEqual([json.status, object(json.rejection).code], ['rejected', 'not_found']);
      await assertEnded(own, id, 'rejected', object(json.rejection));
      await assertGivenBack(before);
    });

    it('a transfer that waits for approval ends at the last approval as rejected with not_found if its destination has left the network, and as completed if it is still in it', async () => {
      const network = `net-${randomUUID()}`;
      own = await openGuarded(api, {}, { tenant: { network } });
      const neighbour = await openBank(api, { network });
      const to = await neighbour.account();
      const before = await own.money();
      const { id } = await own.pend({ to });
      const setNetwork = (name: string): Promise<unknown> =>
        db.change(
          `UPDATE tenants SET network='${name}' WHERE id=${idLiteral(neighbour.tenant.tenant.id)}`,
        );
      await setNetwork(`${network}x`);
      const { json } = answered(await approve(id), 200);
      assert.deepEqual([json.status, object(json.rejection).code], ['rejected', 'not_found']);
      await assertEnded(own, id, 'rejected', object(json.rejection));
      await assertGivenBack(before);
      assert.equal(await neighbour.available(to), 0n);
      await setNetwork(network);
      const { id: reachable } = await own.pend({ to });
      assert.equal(answered(await approve(reachable), 200).json.status, 'completed');
    });

    it('a transfer that waits for approval ends at the last approval as completed if the destination is frozen: it can receive', async () => {
      const { id } = await own.pend();
      await setStatus(db, own.receiver, 'frozen');
      assert.equal(answered(await approve(id), 200).json.status, 'completed');
    });

    it('a transfer that waits for approval is checked again at the last approval and not at an earlier one: what was frozen may be active again by then', async () => {
      await own.setPolicy({ approvals: 2 });
      const { id } = await own.pend();
      await freezeAccount(db.deps, own.guarded.id, DECIDED);
      assert.equal(answered(await approve(id), 200).json.status, 'pending_approval');
      await unfreezeAccount(db.deps, own.guarded.id, DECIDED);
      assert.equal(answered(await own.act('approve', id, 'second'), 200).json.status, 'completed');
    });

    it('a transfer that waits for approval ends at the last approval as completed though limits shrank and funds are gone since: they were checked and held at its creation', async () => {
      const person = await own.account({ type: 'person', funds: { COPM: THRESHOLD } });
      await own.setPolicy({ accountId: person.id });
      const { id } = await own.pend({ from: person });
      await db.change(
        `INSERT INTO account_limits (account_id, asset, minimum, maximum, month)
         VALUES (${idLiteral(person.id)}, 'COPM', 1, 2, 3)`,
      );
      assert.equal(answered(await approve(id), 200).json.status, 'completed');
      assert.equal(await own.bank.available(own.receiver), THRESHOLD);
    });

    it('a transfer that waits for approval ends at the last approval as rejected if the receiver can hold no more, and nothing is lost', async () => {
      const network = `net-${randomUUID()}`;
      own = await openGuarded(api, {}, { tenant: { network } });
      const full = await openBank(api, { network });
      const to = await full.account();
      const before = await own.money();
      const { id } = await own.pend({ to });
      await full.fund(to, { raw: 2n ** 63n - THRESHOLD, asset: 'COPM' });
      const { json } = answered(await approve(id), 200);
      assert.equal(json.status, 'rejected');
      await assertEnded(own, id, 'rejected', object(json.rejection));
      await assertGivenBack(before);
      assert.equal(await full.available(to), 2n ** 63n - THRESHOLD);
    });

    it('the approval that ended a transfer as rejected is a replay of its key forever after', async () => {
      const { id } = await own.pend();
      await freezeAccount(db.deps, own.guarded.id, DECIDED);
      const key = randomUUID();
      const { json } = answered(await own.act('approve', id, 'approver', { key }), 200);
      await unfreezeAccount(db.deps, own.guarded.id, DECIDED);
      const again = answered(await own.act('approve', id, 'approver', { key }), 200);
      assert.deepEqual([again.json, again.headers.get('svc-idempotent-replayed')], [json, 'true']);
    });
  });

  describe('when its time is over', () => {
    it('a transfer that waits for approval is not changed by the timer if it has ended', async () => {
      const { id } = await own.pend();
      const { json } = answered(await own.act('approve', id, 'approver'), 200);
      pass(EXPIRES_IN_S * 1_000);
      assert.equal((await approvalsOf(api).expire(text(id))).status, 'completed');
      assert.deepEqual(await assertEnded(own, id, 'completed'), json);
    });

    it('a transfer that waits for approval ends as expired when its time is over, whatever keeps older ones of another account from it', async () => {
      const hurried = await startTestApi(db, { COMMAND_TIMEOUT_MS: '3000' }, { clock: () => now });
      const approvals = approvalsOf(hurried);
      while ((await approvals.expireDue(500)) > 0);
      const kept = [await own.pend(), await own.pend()];
      pass(1_000);
      const other = await openGuarded(api);
      const { id } = await other.pend();
      pass(EXPIRES_IN_S * 1_000);
      await transact(db.database, async (transaction) => {
        await lockAccount(transaction, own.guarded.id);
        await assert.rejects(approvals.expireDue(2), /ledger/);
        await assertEnded(other, id, 'expired');
      });
      assert.equal(await approvals.expireDue(2), 2);
      for (const { id: late } of kept) await assertEnded(own, late, 'expired');
      await hurried.stop();
    });

    it('of 50 transfers that are due, those that expired first end before the others, in groups', async () => {
      const approvals = approvalsOf(api);
      // Whatever other tests left is over by now.
      while ((await approvals.expireDue(500)) > 0);
      const before = await own.money();
      const ids: unknown[] = [];
      for (const [count, expiresInS] of [
        [25, 120],
        [25, 60],
      ] as const) {
        await own.setPolicy({ expiresInS });
        const made = await Promise.all(Array.from({ length: count }, () => own.pend()));
        ids.push(...made.map(({ id }) => id));
      }
      await own.setPolicy({ expiresInS: 86_400 });
      const { id: later } = await own.pend();
      assert.equal(await approvals.expireDue(20), 0);
      pass(120_000);
      assert.equal(await approvals.expireDue(20), 20);
      const rows = await Promise.all(ids.map((id) => own.row(id)));
      assert.deepEqual(
        rows.map(({ status }) => status === 'expired').slice(0, 25),
        Array.from({ length: 25 }, () => false),
      );
      assert.deepEqual([await approvals.expireDue(20), await approvals.expireDue(20)], [20, 10]);
      assert.equal(await approvals.expireDue(20), 0);
      for (const id of ids) assert.equal((await own.row(id)).status, 'expired');
      const log = await db.sql(
        `SELECT COUNT(*) AS events, COUNT(DISTINCT resource_id) AS ids FROM events
         WHERE tenant_id=${idLiteral(own.guarded.tenantId)} AND type='transfer.expired'`,
      );
      assert.deepEqual(log, [{ events: '50', ids: '50' }]);
      assert.deepEqual(await own.money(), {
        available: before.available - THRESHOLD,
        held: THRESHOLD,
      });
      assert.equal((await own.read(later)).status, 'pending_approval');
      answered(await own.act('cancel', later, 'creator'), 200);
      assert.deepEqual(await own.money(), before);
    });
  });

  describe('in another month than it began', () => {
    const MONTH = 5_000_000_000n;

    for (const [timeZone, last, first, names] of [
      [
        'America/Bogota',
        '2036-02-01T04:59:59.999Z',
        '2036-02-01T05:00:00.000Z',
        ['2036-01', '2036-02'],
      ],
      [
        'Pacific/Kiritimati',
        '2035-12-31T09:59:59.999Z',
        '2035-12-31T10:00:00.000Z',
        ['2035-12', '2036-01'],
      ],
    ] as const)
      it(`a transfer that ends in another month gives back the share of its own month, which is that of the tenant's time zone at its creation: ${timeZone}`, async () => {
        at('2035-12-31T00:00:00.000Z');
        own = await openGuarded(
          api,
          {},
          { tenant: { timeZone }, account: { type: 'person', funds: { COPM: 3n * MONTH } } },
        );
        const months = async (): Promise<Json> =>
          Object.fromEntries(
            (
              await db.sql(
                `SELECT month, used FROM month_totals WHERE account_id=${idLiteral(own.guarded.id)} AND used<>0`,
              )
            ).map(({ month, used }) => [String(month), BigInt(String(used))]),
          );
        const [own1, own2] = names;
        at(last);
        const old = await Promise.all(Array.from({ length: 4 }, () => own.pend()));
        at(first);
        const fresh = await own.pend();
        assert.deepEqual(await months(), { [own1]: 4n * THRESHOLD, [own2]: THRESHOLD });
        assert.equal(await own.used(), THRESHOLD);
        answered(await own.act('reject', old[0]?.id, 'approver'), 200);
        answered(await own.act('cancel', old[1]?.id, 'creator'), 200);
        assert.deepEqual(await months(), { [own1]: 2n * THRESHOLD, [own2]: THRESHOLD });
        // What is approved counts where it was created.
        answered(await own.act('approve', old[2]?.id, 'approver'), 200);
        pass(EXPIRES_IN_S * 1_000);
        await approvalsOf(api).expire(text(old[3]?.id));
        assert.deepEqual(await months(), { [own1]: THRESHOLD, [own2]: THRESHOLD });
        answered(await own.act('approve', fresh.id, 'approver'), 409, 'invalid_state');
        assert.deepEqual(await months(), { [own1]: THRESHOLD });
      });

    it('an allowance that is given back in another month can be used again, to the last unit, unlike that of a waiting transfer', async () => {
      const payer = await own.account({ type: 'person', funds: { COPM: 2n * MONTH } });
      await own.setPolicy({ accountId: payer.id, threshold: LEAST });
      const maximum = 1_200_000_000n;
      const made: unknown[] = [];
      for (let left = MONTH; left > 0n; left -= maximum)
        made.push((await own.pend({ from: payer, raw: left < maximum ? left : maximum })).id);
      const send = (raw: bigint): Promise<TestAnswer> =>
        own.bank.send({ from: payer, to: own.receiver, raw }, { token: own.tokens.creator });
      answered(await send(LEAST), 422, 'monthly_limit_exceeded');
      answered(await own.act('cancel', made[0], 'creator'), 200);
      answered(await send(maximum), 202);
      answered(await send(LEAST), 422, 'monthly_limit_exceeded');
    });
  });

  describe('with the fee of its creation', () => {
    const FEE = 700n;
    let fees: Awaited<ReturnType<GuardedBank['account']>>;

    const charge = (flatRaw: bigint): Promise<void> =>
      setFee(db.database, { tenantId: own.guarded.tenantId, flatRaw });
    const collect = (account: typeof fees): Promise<unknown> =>
      setFeeAccount(db.deps, own.guarded.tenantId, account.id, TEST_ACTOR);

    beforeEach(async () => {
      fees = await own.bank.account();
      await collect(fees);
      await charge(FEE);
    });

    it('the fee of a waiting transfer is held with the amount from the start, and released with it; it uses none of the month', async () => {
      const before = await own.money();
      const { id, fee } = await own.pend();
      assert.deepEqual(fee, { raw: FEE.toString(), asset: 'COPM' });
      assert.deepEqual(await own.money(), {
        available: before.available - THRESHOLD - FEE,
        held: THRESHOLD + FEE,
      });
      assert.equal(await own.used(), THRESHOLD);
      answered(await own.act('reject', id, 'approver'), 200);
      await assertGivenBack(before);
      assert.equal(await own.bank.available(fees), 0n);
      const poor = await own.account({ funds: { COPM: THRESHOLD + FEE - 1n } });
      await own.setPolicy({ accountId: poor.id });
      const wanted = { from: poor, to: own.receiver, raw: THRESHOLD };
      answered(await own.bank.send(wanted), 422, 'insufficient_funds');
    });

    it('the fee of a waiting transfer stays that of its creation though schedule and fee account have changed since', async () => {
      const before = await own.money();
      const { id } = await own.pend();
      const next = await own.bank.account();
      await collect(next);
      await charge(9n);
      const { json } = answered(await own.act('approve', id, 'approver'), 200);
      assert.deepEqual(json.fee, { raw: FEE.toString(), asset: 'COPM' });
      await assertEnded(own, id, 'completed');
      assert.deepEqual([await own.bank.available(fees), await own.bank.available(next)], [FEE, 0n]);
      assert.deepEqual(await own.money(), {
        available: before.available - THRESHOLD - FEE,
        held: 0n,
      });
    });

    it('an account that waits for the fee of a transfer is not closed before, though it is no longer the fee account', async () => {
      const { id } = await own.pend();
      await collect(await own.bank.account());
      const closing = await closeAccount(db.deps, fees.id, DECIDED).catch(
        (error: unknown) => error,
      );
      assert(closing instanceof ApiError);
      assert.deepEqual(
        [closing.refusal.code, closing.refusal.details?.current],
        ['invalid_state', 'fee_account'],
      );
      answered(await own.act('cancel', id, 'creator'), 200);
      assert.equal((await closeAccount(db.deps, fees.id, DECIDED)).changed, true);
    });

    it('the fee of a waiting transfer is paid by the source as a separate movement when it completes, dated then', async () => {
      const { id } = await own.pend();
      pass(60_000);
      answered(await own.act('approve', id, 'approver'), 200);
      const { items } = answered(
        await own.bank.get(`/v1/accounts/${own.guarded.id}/movements`),
        200,
      ).json;
      assert.deepEqual(
        (items as Json[])
          .slice(0, 2)
          .map((one) => [one.kind, object(one.related).id, one.created_at]),
        ['fee_out', 'transfer_out'].map((kind) => [kind, id, toRfc3339(now)]),
      );
    });
  });

  it('an account with held funds stays open: a transfer that waits for approval does not end by closing its source', async () => {
    const all = await own.account({ funds: { COPM: THRESHOLD } });
    await own.setPolicy({ accountId: all.id });
    const { id } = await own.pend({ from: all });
    const closing = await closeAccount(db.deps, all.id, DECIDED).catch((error: unknown) => error);
    assert(closing instanceof ApiError);
    assert.deepEqual(
      [closing.refusal.code, closing.refusal.details?.current],
      ['invalid_state', 'funds_held'],
    );
    answered(await own.act('cancel', id, 'creator'), 200);
  });
});
