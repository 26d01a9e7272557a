import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { addMember } from '../../src/members/members.js';
import { grantRole } from '../../src/members/roles.js';
import { closeAccount } from '../../src/accounts/status.js';
import { removeFeeSchedule, setFeeAccount } from '../../src/operations/fees.js';
import { setPolicy } from '../../src/approvals/policies.js';
import { type Instant, instant, systemClock } from '../../src/core/instant.js';
import { bonuses } from '../../src/db/entities/bonuses.js';
import type { Account } from '../../src/db/entities/parties.js';
import { idLiteral, LEAST, setStatus } from '../helpers/bank.js';
import { testDatabase } from '../helpers/database.js';
import { assertLedgerSound, balanceOf, feeSchedule, TEST_ACTOR } from '../helpers/world.js';
import { BatchWorld, codeOf, payroll, resourceOf, type WantedCell } from './support.js';

type Rows = readonly (readonly WantedCell[])[];

const db = await testDatabase();

describe('the execution of a batch', () => {
  let world: BatchWorld;
  let ana: Account;
  let bruno: Account;

  beforeEach(async () => {
    world = await BatchWorld.open(db);
    ana = await world.account({ alias: '$ana' });
    bruno = await world.account({ alias: '$bruno' });
  });

  const source = (copm: bigint, type: 'person' | 'business' = 'business'): Promise<Account> =>
    world.account({ type, funds: { COPM: copm } });
  const pays = (...amounts: readonly bigint[]): Buffer =>
    payroll(amounts.map((raw) => ['$ana', raw.toString(), 'COPM']));
  const available = async (account: Account): Promise<bigint> =>
    (await balanceOf(db.database, account.id)).available;

  it('pays every row: a bonus, its movements and its fee, and ends as completed with one event', async () => {
    const fees = await world.account();
    await world.charge(fees, { flatRaw: 500n });
    const payer = await source(1_000n * LEAST);
    const rows: Rows = [
      ['$ana', '100000', 'COPM', 'One', 'r1'],
      ['$bruno', '200000', 'COPM', null, 'r2'],
      ['$ana', '300000', 'COPM', null, null],
    ];
    const batch = await world.paid(payer, payroll(rows));
    assert.deepEqual(
      [batch.status, batch.rowsPaid, batch.rowsFailed, batch.settledRaw],
      ['completed', 3, 0, 601_500n],
    );
    assert.deepEqual(
      [await available(payer), await available(ana), await available(bruno), await available(fees)],
      [1_000n * LEAST - 601_500n, 400_000n, 200_000n, 1_500n],
    );
    const paid = await world.rows(batch.id);
    const made = await db.database.reader.select(
      bonuses,
      { batchId: batch.id },
      { orderBy: ['batchRow'] },
    );
    assert.deepEqual(
      made.map((bonus) => [
        bonus.id,
        bonus.batchRow,
        bonus.raw,
        bonus.feeRaw,
        bonus.description,
        bonus.reference,
      ]),
      [
        [paid[0]!.paymentId, 2, 100_000n, 500n, 'One', 'r1'],
        [paid[1]!.paymentId, 3, 200_000n, 500n, 'November', 'r2'],
        [paid[2]!.paymentId, 4, 300_000n, 500n, 'November', null],
      ],
    );
    assert.deepEqual(await world.events(), ['bonus_batch.ready', 'bonus_batch.completed']);
  });

  it('holds the whole debit at once if the funds cover it, and each row spends its share', async () => {
    const payer = await source(3n * LEAST);
    const batch = await world.executed(payer, pays(LEAST, LEAST));
    assert(batch.isHeld);
    assert.deepEqual(await balanceOf(db.database, payer.id), {
      available: LEAST,
      held: 2n * LEAST,
    });
    assert.deepEqual(await world.execution.payNextGroup(batch.id, 1), {
      tried: 1,
      settled: 1,
      unknown: 0,
    });
    assert.deepEqual(await balanceOf(db.database, payer.id), { available: LEAST, held: LEAST });
    await assertLedgerSound(db.database);
    assert.equal(await world.pay(batch), 'over');
    assert.deepEqual(await balanceOf(db.database, payer.id), { available: LEAST, held: 0n });
  });

  it('without the funds for all rows holds no funds: each row is tried in order, and a later smaller one may still be paid', async () => {
    const payer = await source(5n * LEAST);
    const batch = await world.paid(payer, pays(3n * LEAST, 3n * LEAST, LEAST, 2n * LEAST, LEAST));
    assert(!batch.isHeld);
    assert.deepEqual(
      (await world.rows(batch.id)).map(({ status, code }) => [status, code]),
      [
        ['paid', null],
        ['failed', 'insufficient_funds'],
        ['paid', null],
        ['failed', 'insufficient_funds'],
        ['paid', null],
      ],
    );
    assert.deepEqual([batch.status, batch.rowsPaid, batch.rowsFailed], ['partially_failed', 3, 2]);
    assert.equal(await available(payer), 0n);
    assert.deepEqual(await world.events(), ['bonus_batch.ready', 'bonus_batch.partially_failed']);
  });

  it('the hold covers the amounts and fees of all rows exactly', async () => {
    await world.charge(await world.account(), { flatRaw: 1n });
    for (const [funds, isHeld] of [
      [2n * LEAST + 2n, true],
      [2n * LEAST + 1n, false],
    ] as const) {
      const payer = await source(funds);
      const batch = await world.paid(payer, pays(LEAST, LEAST));
      assert.deepEqual(
        [batch.isHeld, batch.status],
        [isHeld, isHeld ? 'completed' : 'partially_failed'],
      );
    }
  });

  it('a row that a rule refuses fails for good with the code of the rule, and all other rows are paid', async () => {
    const payer = await source(1_000n * LEAST);
    const closing = await world.account({ alias: '$closing' });
    const batch = await world.executed(
      payer,
      payroll([
        ['$ana', LEAST.toString(), 'COPM'],
        ['$closing', LEAST.toString(), 'COPM'],
        ['$ana', (4n * LEAST + 1n).toString(), 'COPM'],
        ['$ana', (2n * LEAST).toString(), 'COPM'],
      ]),
    );
    await closeAccount(db.deps, closing.id, { actor: TEST_ACTOR, reason: 'left' });
    await db.sql(
      `INSERT INTO account_limits VALUES (${idLiteral(payer.id)}, 'COPM', ${2n * LEAST}, ${4n * LEAST}, NULL)`,
    );
    assert.equal(await world.pay(batch), 'over');
    const rows = await world.rows(batch.id);
    assert.deepEqual(
      rows.map(({ status, code }) => [status, code]),
      [
        ['failed', 'below_minimum'],
        ['failed', 'not_found'],
        ['failed', 'above_per_operation_limit'],
        ['paid', null],
      ],
    );
    assert.match(rows[0]!.message!, /under the minimum/);
    assert.deepEqual(await balanceOf(db.database, payer.id), { available: 998n * LEAST, held: 0n });
    // For ever: its key is bound.
    await db.sql(`DELETE FROM account_limits WHERE account_id=${idLiteral(payer.id)}`);
    assert.equal(await world.pay(batch), 'over');
    assert.deepEqual(await world.rows(batch.id), rows);
  });

  it('executing a batch of a frozen source fails every row with capability_cannot_send and releases the hold', async () => {
    const payer = await source(10n * LEAST);
    const batch = await world.executed(payer, pays(LEAST, LEAST));
    await setStatus(db, payer, 'frozen');
    assert.equal(await world.pay(batch), 'over');
    const codes = (await world.rows(batch.id)).map(({ code }) => code);
    assert.deepEqual(codes, ['capability_cannot_send', 'capability_cannot_send']);
    const { available, held } = await balanceOf(db.database, payer.id);
    assert.deepEqual([available, held], [10n * LEAST, 0n]);
  });

  it('pays the account that the row named at validation, even if the alias has moved', async () => {
    const payer = await source(10n * LEAST);
    const batch = await world.executed(payer, pays(LEAST));
    await db.change(`UPDATE accounts SET alias=NULL WHERE id=${idLiteral(ana.id)}`);
    await db.change(`UPDATE accounts SET alias='$ana' WHERE id=${idLiteral(bruno.id)}`);
    await world.pay(batch);
    assert.deepEqual([await available(ana), await available(bruno)], [LEAST, 0n]);
  });

  it('a row pays an account of another tenant, as long as both are in one network', async () => {
    const other = await BatchWorld.open(db);
    const join = (of: BatchWorld, network: string) =>
      db.sql(`UPDATE tenants SET network='${network}' WHERE id=${idLiteral(of.tenant.tenant.id)}`);
    const network = `net-${randomUUID()}`;
    await join(world, network);
    await join(other, network);
    const payer = await source(9n * LEAST);
    const receiver = await other.account();
    const file = payroll([[receiver.id, LEAST.toString(), 'COPM']]);
    assert.equal((await world.paid(payer, file)).status, 'completed');
    assert.equal(await available(receiver), LEAST);
    const { id } = await world.ready(payer, file);
    await join(other, `${network}-other`);
    await world.execute({ id });
    assert.equal(await world.pay({ id }), 'over');
    assert.deepEqual(
      (await world.rows(id)).map(({ status, code }) => [status, code]),
      [['failed', 'not_found']],
    );
  });

  it('charges the fee that was fixed at validation, into the fee account that was fixed then', async () => {
    const [old, other] = [await world.account(), await world.account()];
    await world.charge(old, { flatRaw: 700n });
    const payer = await source(10n * LEAST);
    const batch = await world.ready(payer, pays(LEAST));
    const tenantId = world.tenant.tenant.id;
    const schedule = feeSchedule({ tenantId, operation: 'bonus' });
    await removeFeeSchedule(db.deps, schedule, TEST_ACTOR);
    await setFeeAccount(db.deps, tenantId, other.id, TEST_ACTOR);
    const close = () => closeAccount(db.deps, old.id, { actor: TEST_ACTOR, reason: 'old' });
    await assert.rejects(close, /the fees of the batch .*, which is ready, go into it/);
    await world.execute(batch);
    await assert.rejects(close, /which is executing, go into it/);
    await world.pay(batch);
    await assert.rejects(close, /its balances are not zero/);
    assert.deepEqual([await available(old), await available(other)], [700n, 0n]);
  });

  it('counts each row in the month in which it is paid', async () => {
    let now: Instant = instant(Date.parse('2031-01-31T20:00:00.000Z'));
    const dated = await BatchWorld.open(db, { clock: () => now });
    await dated.account({ alias: '$ana' });
    const payer = await dated.account({ type: 'person', funds: { COPM: 10_000_000_000n } });
    const third = 1_200_000_000n;
    const batch = await dated.executed(
      payer,
      pays(third, third, third, third, third, third, LEAST),
    );
    // Five are more than the month allows; the next month has room again, the third refusal is over by then.
    assert.deepEqual(await dated.execution.payNextGroup(batch.id, 5), {
      tried: 5,
      settled: 5,
      unknown: 0,
    });
    now = instant(Date.parse('2031-02-01T05:00:00.000Z'));
    assert.equal(await dated.pay(batch), 'over');
    assert.deepEqual(
      (await dated.rows(batch.id)).map(({ status, code }) => code ?? status),
      ['paid', 'paid', 'paid', 'paid', 'monthly_limit_exceeded', 'paid', 'paid'],
    );
    const months = await db.sql(
      `SELECT month, used FROM month_totals WHERE account_id=${idLiteral(payer.id)} ORDER BY month`,
    );
    assert.deepEqual(months, [
      { month: '2031-01', used: (4n * third).toString() },
      { month: '2031-02', used: (third + LEAST).toString() },
    ]);
  });

  it('executing a batch is 409 invalid_state {current, allowed: ["ready"]} from every state but ready', async () => {
    const payer = await source(10n * LEAST);
    const open = await world.uploaded(payer, pays(LEAST));
    const rejected = await world.validated(payer, payroll([['$nobody', '1', 'COPM']]));
    const executing = await world.executed(payer, pays(LEAST));
    const completed = await world.paid(payer, pays(LEAST));
    for (const [batch, current] of [
      [open, 'validating'],
      [rejected, 'rejected'],
      [executing, 'executing'],
      [completed, 'completed'],
    ] as const) {
      const { outcome } = await world.execute(batch);
      assert(!outcome.done);
      assert.deepEqual(
        [outcome.refusal.code, outcome.refusal.details],
        ['invalid_state', { current, allowed: ['ready'] }],
      );
    }
  });

  it('executing a batch again with the same member and key is a replay with the current batch; another member or key is 409, even at the same time', async () => {
    const payer = await source(10n * LEAST);
    const batch = await world.ready(payer, pays(LEAST));
    const other = await addMember(db.database, systemClock, payer.tenantId, 'other', TEST_ACTOR);
    await grantRole(db.database, systemClock, other, payer.id, 'approver', TEST_ACTOR);
    const key = randomUUID();
    assert.equal(
      resourceOf(await world.execute(batch, world.tenant.owner, key)).status,
      'executing',
    );
    assert.equal(codeOf(await world.execute(batch, other, key)), 'idempotency_key_reused');
    await world.pay(batch);
    const again = await world.execute(batch, world.tenant.owner, key);
    assert.deepEqual([again.replayed, resourceOf(again).status], [true, 'completed']);
    const next = await world.ready(payer, pays(LEAST));
    const codes = (await Promise.all([1, 2, 3].map(() => world.execute(next)))).map(codeOf);
    assert.deepEqual(codes.sort(), ['invalid_state', 'invalid_state', undefined]);
    await world.pay(next);
    assert.equal(await available(ana), 2n * LEAST);
  });

  it('approvers, admins and owners can execute a batch, but not its uploader if an approval policy says so', async () => {
    const guarded = await BatchWorld.open(db);
    await guarded.account({ alias: '$ana' });
    const { id } = guarded.tenant.tenant;
    const member = await addMember(db.database, systemClock, id, 'second', TEST_ACTOR);
    const payer = await guarded.account({
      funds: { COPM: 10n * LEAST },
      roles: [{ memberId: member.id, role: 'operator' }],
    });
    const policy = {
      accountId: payer.id,
      asset: 'COPM',
      threshold: 2n * LEAST,
      approvals: 1,
      expiresInS: 3_600,
      refusesBatches: false,
    } as const;
    await setPolicy(db.database, systemClock, policy, TEST_ACTOR);
    const [small, large] = [
      await guarded.ready(payer, pays(2n * LEAST - 1n)),
      await guarded.ready(payer, pays(LEAST, LEAST)),
    ];
    assert.equal(codeOf(await guarded.execute(small, member)), 'authority_insufficient');
    assert.equal(codeOf(await guarded.execute(small)), undefined);
    assert.equal(codeOf(await guarded.execute(large)), 'authority_insufficient');
    await grantRole(db.database, systemClock, member, payer.id, 'approver', TEST_ACTOR);
    assert.equal(codeOf(await guarded.execute(large, member)), undefined);
    await Promise.all([guarded.pay(small), guarded.pay(large)]);
    assert.equal((await guarded.batch(large.id)).executedBy, member.id);
  });
});
