import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { transferActivities } from '../../activities/approvals.js';
import { lockAccount } from '../../src/accounts/access.js';
import { setFeeAccount } from '../../src/operations/fees.js';
import { closeAccount, freezeAccount, unfreezeAccount } from '../../src/accounts/status.js';
import { instant } from '../../src/core/instant.js';
import { transact } from '../../src/db/reader.js';
import { StaffSignals } from '../../src/staff/verification.js';
import { startTestApi, type TestAnswer } from '../helpers/api.js';
import {
  answered,
  type Bank,
  idLiteral,
  object,
  openBank,
  setStatus,
  text,
} from '../helpers/bank.js';
import { testDatabase } from '../helpers/database.js';
import { describedApi } from '../helpers/described.js';
import {
  approvalsOf,
  assertEnded,
  EXPIRES_IN_S,
  type GuardedBank,
  openGuarded,
  THRESHOLD,
} from '../helpers/guarded.js';
import { setFee, TEST_ACTOR } from '../helpers/world.js';

const START = Date.parse('2036-05-10T12:00:00.000Z');
const DECIDED = { actor: TEST_ACTOR, reason: null };
const FEE = 700n;

const db = await testDatabase();
let now = instant(START);
const api = await describedApi(await startTestApi(db, {}, { clock: () => now }));

describe('a transfer that waits for approval ends', () => {
  let own: GuardedBank;

  const at = (time: string): void => void (now = instant(Date.parse(time)));
  const pass = (ms: number): void => void (now = instant(now + ms));
  const approve = (id: unknown): Promise<TestAnswer> => own.act('approve', id, 'approver');

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

  const neighbours = async (): Promise<Bank> => {
    const network = `net-${randomUUID()}`;
    own = await openGuarded(api, {}, { tenant: { network } });
    return openBank(api, { network });
  };

  for (const [what, code, spoil] of [
    [
      'its source is no longer verified',
      'capability_cannot_send',
      () => db.change(`UPDATE accounts SET verified_at=NULL WHERE id=${idLiteral(own.guarded.id)}`),
    ],
    [
      'its destination was closed meanwhile',
      'not_found',
      () => closeAccount(db.deps, own.receiver.id, DECIDED),
    ],
  ] as const)
    it(`at the last approval as rejected with ${code} if ${what}`, async () => {
      const before = await own.money();
      const { id } = await own.createPending();
      await spoil();
      const { json } = answered(await approve(id), 200);
      assert.equal(object(json.rejection).code, code);
      await assertEnded(own, id, 'rejected', object(json.rejection));
      await assertGivenBack(before);
    });

  it('as rejected if its destination has left the network or can hold no more, and nothing is lost', async () => {
    const other = await neighbours();
    const to = await other.account();
    const before = await own.money();
    const setNetwork = (name: string | null): Promise<unknown> =>
      db.change(
        `UPDATE tenants SET network='${name}' WHERE id=${idLiteral(other.tenant.tenant.id)}`,
      );
    const { id: left } = await own.createPending({ to });
    await setNetwork('elsewhere');
    assert.equal(object(answered(await approve(left), 200).json.rejection).code, 'not_found');
    await setNetwork(own.bank.tenant.tenant.network);
    const { id: full } = await own.createPending({ to });
    await other.fund(to, { raw: 2n ** 63n - THRESHOLD, asset: 'COPM' });
    const { json } = answered(await approve(full), 200);
    await assertEnded(own, full, 'rejected', object(json.rejection));
    await assertGivenBack(before);
    assert.equal(await other.available(to), 2n ** 63n - THRESHOLD);
  });

  it('a transfer that waits for approval completes even if its destination was frozen, limits were lowered or funds were spent meanwhile', async () => {
    const person = await own.account({ type: 'person', funds: { COPM: THRESHOLD } });
    await own.setPolicy({ accountId: person.id });
    const { id } = await own.createPending({ from: person });
    await setStatus(db, own.receiver, 'frozen');
    await db.change(
      `INSERT INTO account_limits (account_id, asset, minimum, maximum, month)
       VALUES (${idLiteral(person.id)}, 'COPM', 1, 2, 3)`,
    );
    assert.equal(answered(await approve(id), 200).json.status, 'completed');
    assert.equal(await own.bank.available(own.receiver), THRESHOLD);
  });

  it('a transfer that waits for approval is checked again at the last approval and not at an earlier one; that approval is a replay of its key forever after', async () => {
    await own.setPolicy({ approvals: 2 });
    const { id } = await own.createPending();
    await freezeAccount(db.deps, own.guarded.id, DECIDED);
    assert.equal(answered(await approve(id), 200).json.status, 'pending_approval');
    const key = randomUUID();
    const { json } = answered(await own.act('approve', id, 'second', { key }), 200);
    assert.equal(json.status, 'rejected');
    await unfreezeAccount(db.deps, own.guarded.id, DECIDED);
    const again = answered(await own.act('approve', id, 'second', { key }), 200);
    assert.deepEqual([again.json, again.headers.get('svc-idempotent-replayed')], [json, 'true']);
  });

  it('a transfer that waits for approval expires at its time, even if older transfers of another account cannot', async () => {
    const hurried = await startTestApi(db, { COMMAND_TIMEOUT_MS: '2000' }, { clock: () => now });
    const approvals = approvalsOf(hurried);
    while ((await approvals.expireDue(500)) > 0);
    const kept = [await own.createPending(), await own.createPending()];
    pass(1_000);
    const other = await openGuarded(api);
    const { id } = await other.createPending();
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

  it('a transfer that waits for approval expires at its time, even if more older rows of its account than one search finds cannot be read, which are then set aside', async () => {
    const approvals = approvalsOf(api);
    const unreadable = [await own.createPending(), await own.createPending()];
    const kept = await own.createPending();
    const rows = `id IN (${unreadable.map(({ id }) => idLiteral(text(id))).join()})`;
    await db.change(`UPDATE transfers SET metadata='{' WHERE ${rows}`);
    await db.change(
      `UPDATE holds SET expires_at=expires_at-INTERVAL 1 SECOND WHERE resource_${rows}`,
    );
    pass(EXPIRES_IN_S * 1_000);
    await assert.rejects(approvals.expireDue(1));
    await assertEnded(own, kept.id, 'expired');
    assert.equal(await approvals.expireDue(1), 0);
    await db.change(`UPDATE transfers SET metadata=NULL WHERE ${rows}`);
    for (const { id } of unreadable) await approvals.expire(text(id));
  });

  it("a transfer that ends in another month gives back the share of its own month, which is that of the tenant's time zone at its creation", async () => {
    at('2035-12-31T00:00:00.000Z');
    own = await openGuarded(api, {}, { tenant: { timeZone: 'Pacific/Kiritimati' } });
    const months = async (): Promise<Record<string, bigint>> => {
      const rows = await db.sql(
        `SELECT month, used FROM month_totals WHERE account_id=${idLiteral(own.guarded.id)} AND used<>0`,
      );
      return Object.fromEntries(
        rows.map(({ month, used }) => [String(month), BigInt(String(used))]),
      );
    };
    at('2035-12-31T09:59:59.999Z');
    const old = await Promise.all(Array.from({ length: 4 }, () => own.createPending()));
    at('2035-12-31T10:00:00.000Z');
    const fresh = await own.createPending();
    assert.deepEqual(await months(), { '2035-12': 4n * THRESHOLD, '2036-01': THRESHOLD });
    assert.equal(await own.used(), THRESHOLD);
    answered(await own.act('reject', old[0]?.id, 'approver'), 200);
    answered(await own.act('cancel', old[1]?.id, 'creator'), 200);
    // What is approved counts where it was created.
    answered(await approve(old[2]?.id), 200);
    const signals = new StaffSignals(api.core, () => Promise.resolve(null));
    const { expireTransfer } = transferActivities(approvalsOf(api), signals);
    const expire = async () => (await expireTransfer(text(old[3]?.id))).status;
    pass(EXPIRES_IN_S * 1_000 - 2);
    assert.equal(await expire(), 'pending_approval');
    pass(2);
    assert.equal(await expire(), 'expired');
    assert.deepEqual(await months(), { '2035-12': THRESHOLD, '2036-01': THRESHOLD });
    answered(await approve(fresh.id), 409, 'invalid_state');
    assert.deepEqual(await months(), { '2035-12': THRESHOLD });
  });

  it('the fee of a waiting transfer is held and released with its amount, does not count towards the month, and keeps its value', async () => {
    const { tenantId } = own.guarded;
    const [fees, next] = [await own.bank.account(), await own.bank.account()];
    await setFeeAccount(db.deps, tenantId, fees.id, TEST_ACTOR);
    await setFee(db.database, { tenantId, flatRaw: FEE });
    const before = await own.money();
    const { id, fee } = await own.createPending();
    assert.deepEqual(fee, { raw: FEE.toString(), asset: 'COPM' });
    const left = { available: before.available - THRESHOLD - FEE, held: THRESHOLD + FEE };
    assert.deepEqual(await own.money(), left);
    assert.equal(await own.used(), THRESHOLD);
    answered(await own.act('reject', id, 'approver'), 200);
    await assertGivenBack(before);
    const poor = await own.account({ funds: { COPM: THRESHOLD + FEE - 1n } });
    await own.setPolicy({ accountId: poor.id });
    answered(await own.send({ from: poor }), 422, 'insufficient_funds');
    const { id: second } = await own.createPending();
    await setFeeAccount(db.deps, tenantId, next.id, TEST_ACTOR);
    await setFee(db.database, { tenantId, flatRaw: 9n });
    assert.deepEqual(answered(await approve(second), 200).json.fee, fee);
    await assertEnded(own, second, 'completed');
    assert.deepEqual([await own.bank.available(fees), await own.bank.available(next)], [FEE, 0n]);
    assert.deepEqual(await own.money(), { ...left, held: 0n });
  });
});
