import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { closeAccount, freezeAccount, unfreezeAccount } from '../../src/accounts/status.js';
import { asUuid } from '../../src/core/ids.js';
import { instant } from '../../src/core/instant.js';
import { outbox } from '../../src/db/entities/outbox.js';
import { setFeeAccount } from '../../src/operations/fees.js';
import { startTestApi, type TestAnswer } from '../helpers/api.js';
import { answered, idLiteral, type Json, LEAST, list, object, openBank } from '../helpers/bank.js';
import { testDatabase } from '../helpers/database.js';
import { describedApi } from '../helpers/described.js';
import {
  approvalsOf,
  assertEnded,
  type GuardedBank,
  openGuarded,
  THRESHOLD,
} from '../helpers/guarded.js';
import { balanceOf, setFee, TEST_ACTOR } from '../helpers/world.js';

const START = Date.parse('2036-05-10T12:00:00.000Z');
const DAY_MS = 86_400_000;
const RAW = 5n * LEAST;
const MANUAL = { capture: 'manual' } as const;
const DECIDED = { actor: TEST_ACTOR, reason: 'a test' };

const db = await testDatabase();
let now = instant(START);
const api = await describedApi(await startTestApi(db, {}, { clock: () => now }));

describe('a transfer with manual capture', () => {
  let own: GuardedBank;

  beforeEach(async () => {
    now = instant(START);
    own = await openGuarded(api);
  });

  const pass = (ms: number): void => void (now = instant(now + ms));
  const capture = (id: unknown, body: Json = {}, options = {}): Promise<TestAnswer> =>
    own.bank.request('POST', `/v1/transfers/${String(id)}/capture`, {
      body,
      token: own.tokens.creator,
      ...options,
    });
  const authorise = async (more: Json = {}, options = {}): Promise<Json> =>
    answered(await own.send({ raw: RAW, ...MANUAL, ...more }, options), 201).json;
  const amount = (raw: bigint, asset = 'COPM') => ({ amount: { raw: raw.toString(), asset } });

  async function chargeFees(basisPoints = 100n): Promise<void> {
    const fees = await own.account();
    await setFeeAccount(db.deps, own.bank.tenant.tenant.id, fees.id, TEST_ACTOR);
    await setFee(db.database, {
      tenantId: own.bank.tenant.tenant.id,
      operation: 'transfer',
      basisPoints,
    });
  }

  it('holds amount and fee, pays the captured part with its fee, and releases the rest', async () => {
    await chargeFees();
    const before = await own.money();
    const made = await authorise({ capture_within_s: 3_600 });
    assert.deepEqual(
      [made.status, made.capture, made.capture_expires_at, made.captured],
      ['held', 'manual', new Date(now + 3_600_000).toISOString(), null],
    );
    const fee = BigInt(String(object(made.fee).raw));
    assert.ok(fee > 0n);
    assert.deepEqual(await own.money(), {
      available: before.available - RAW - fee,
      held: RAW + fee,
    });
    assert.equal(await own.used(), RAW);
    assert.deepEqual(await own.events(made.id), []);
    const part = 2n * LEAST;
    const { json } = answered(await capture(made.id, amount(part)), 200);
    const charged = (fee * 2n) / 5n;
    assert.deepEqual(
      [json.status, object(json.captured).raw, object(json.amount).raw, object(json.fee).raw],
      ['completed', `${part}`, `${RAW}`, `${charged}`],
    );
    await assertEnded(own, made.id, 'completed');
    // Its workflow is notified of the hold and of the end, even if this process dies before it does so.
    const resourceId = asUuid(String(made.id));
    assert.equal((await db.database.reader.select(outbox, { resourceId })).length, 2);
    assert.deepEqual(await own.money(), {
      available: before.available - part - charged,
      held: 0n,
    });
    assert.equal(await own.used(), part);
    assert.equal(await own.bank.available(own.receiver), part);
    const { items } = (await own.bank.get(`/v1/accounts/${own.guarded.id}/movements`)).json;
    assert.deepEqual(
      list(items)
        .filter(({ related }) => object(related).id === made.id)
        .map(({ kind, amount: moved }) => [kind, object(moved).raw]),
      [
        ['fee_out', `${charged}`],
        ['transfer_out', `${part}`],
      ],
    );
  });

  it('charges at most the fee that is held, though the fee was raised meanwhile', async () => {
    await chargeFees();
    const { id, fee } = await authorise();
    await chargeFees(1_000n);
    const { json } = answered(await capture(id, amount(4n * LEAST)), 200);
    assert.equal(object(json.fee).raw, object(fee).raw);
    await assertEnded(own, id, 'completed');
  });

  it('charges for all of it the fee of the moment, though it was lowered meanwhile', async () => {
    await chargeFees();
    const [whole, named] = [await authorise(), await authorise()];
    await chargeFees(50n);
    for (const [{ id, fee }, body] of [[whole, {}] as const, [named, amount(RAW)] as const]) {
      const { json } = answered(await capture(id, body), 200);
      assert.equal(object(json.fee).raw, `${BigInt(String(object(fee).raw)) / 2n}`);
      await assertEnded(own, id, 'completed');
    }
  });

  it('captures all of it without an amount, even a part below the minimum with one', async () => {
    const [whole, small] = [await authorise(), await authorise()];
    assert.deepEqual(object(answered(await capture(whole.id), 200).json.captured), {
      raw: `${RAW}`,
      asset: 'COPM',
    });
    answered(await capture(small.id, amount(1n)), 200);
  });

  it('is the same request with `automatic` as without a capture, and shows both as automatic', async () => {
    const key = randomUUID();
    const first = answered(await own.send({ raw: LEAST }, { key }), 201).json;
    assert.deepEqual(
      [first.capture, first.capture_expires_at, first.captured],
      ['automatic', null, null],
    );
    answered(
      await own.send({ raw: LEAST, capture: 'automatic', capture_within_s: null }, { key }),
      200,
    );
    answered(await own.send({ raw: LEAST, ...MANUAL }, { key }), 409, 'idempotency_key_reused');
  });

  it('refuses malformed requests', async () => {
    const { id } = await authorise();
    for (const [field, more] of [
      ['capture', { capture: 'later' }],
      ['capture', { capture: true }],
      ['capture_within_s', { capture_within_s: 60 }],
      ['capture_within_s', { capture: 'automatic', capture_within_s: 60 }],
      ['capture_within_s', { ...MANUAL, capture_within_s: 59 }],
      ['capture_within_s', { ...MANUAL, capture_within_s: 2_592_001 }],
      ['capture_within_s', { ...MANUAL, capture_within_s: '60' }],
      ['capture_within_s', { ...MANUAL, capture_within_s: 60.5 }],
    ] as const) {
      const { json } = answered(await own.send({ raw: LEAST, ...more }), 400, 'invalid_field');
      assert.equal(object(object(json.error).details).field, field);
    }
    for (const [field, body] of [
      ['amount.asset', amount(LEAST, 'DUSD')],
      ['amount.raw', { amount: { raw: '1.5', asset: 'COPM' } }],
      ['amount.raw', { amount: { raw: 1, asset: 'COPM' } }],
      ['amount', { amount: '1' }],
      ['extra', { extra: 1 }],
    ] as const) {
      const { json } = answered(await capture(id, body), 400, 'invalid_field');
      assert.equal(object(object(json.error).details).field, field);
    }
    answered(await capture(id, {}, { key: null }), 400, 'missing_idempotency_key');
  });

  it('refuses a capture of more than is held, of nothing, by the wrong people, and in another state', async () => {
    const key = randomUUID();
    const { id } = await authorise();
    const tooMuch = (): Promise<TestAnswer> => capture(id, amount(RAW + 1n), { key });
    const { json } = answered(await tooMuch(), 422, 'capture_exceeds_amount');
    const again = answered(await tooMuch(), 422, 'capture_exceeds_amount');
    assert.equal(again.headers.get('svc-idempotent-replayed'), 'true');
    assert.deepEqual(object(object(json.error).details).capturable, {
      raw: `${RAW}`,
      asset: 'COPM',
    });
    answered(await capture(id, amount(0n)), 422, 'below_minimum');
    for (const person of ['approver', 'viewer', 'stranger'] as const)
      answered(await capture(id, {}, { token: own.tokens[person] }), 403, 'authority_insufficient');
    const foreign = await openBank(api);
    answered(await capture(id, {}, { token: foreign.token }), 404, 'not_found');
    answered(await capture(randomUUID()), 404, 'not_found');
    answered(await own.act('approve', id, 'approver'), 409, 'invalid_state');
    answered(await capture(id), 200);
    answered(await capture(id), 409, 'invalid_state');
    answered(await capture((await own.send({ raw: LEAST })).json.id), 409, 'invalid_state');
    answered(await capture((await own.createPending(MANUAL)).id), 409, 'invalid_state');
  });

  it('stays held if the source may not send or the destination is out of reach', async () => {
    const receiver = await own.account();
    const [frozen, closed] = [await authorise(), await authorise({ to: receiver })];
    await freezeAccount(db.deps, own.guarded.id, DECIDED);
    answered(await capture(frozen.id), 422, 'capability_cannot_send');
    assert.equal((await own.read(frozen.id)).status, 'held');
    await unfreezeAccount(db.deps, own.guarded.id, DECIDED);
    answered(await capture(frozen.id), 200);
    await closeAccount(db.deps, receiver.id, DECIDED);
    answered(await capture(closed.id), 404, 'not_found');
    assert.equal((await own.read(closed.id)).status, 'held');
    await assertEnded(
      own,
      answered(await own.act('cancel', closed.id, 'admin'), 200).json.id,
      'rejected',
      {
        code: 'canceled',
        reason: null,
      },
    );
  });

  it('becomes held with the last approval, from which its time counts', async () => {
    const [{ id }, late] = [
      await own.createPending({ ...MANUAL, capture_within_s: 60 }),
      await own.createPending({ ...MANUAL, capture_within_s: 60 }),
    ];
    pass(1_000);
    answered(await own.act('approve', late.id, 'approver'), 200);
    const { json } = answered(await own.act('approve', id, 'approver'), 200);
    assert.deepEqual(
      [json.status, json.capture_expires_at],
      ['held', new Date(now + 60_000).toISOString()],
    );
    assert.equal((await own.money()).held, 2n * THRESHOLD);
    pass(59_999);
    assert.equal(await approvalsOf(api).expireDue(100), 0);
    answered(await capture(id), 200);
    await assertEnded(own, id, 'completed');
    pass(1);
    await approvalsOf(api).expireDue(100);
    await assertEnded(own, late.id, 'expired');
  });

  for (const [what, find] of [
    ['the sweep', async () => void (await approvalsOf(api).expireDue(100))],
    ['a capture', async (id) => void answered(await capture(id), 409, 'invalid_state')],
    [
      'a cancel',
      async (id) => void answered(await own.act('cancel', id, 'admin'), 409, 'invalid_state'),
    ],
    ['its workflow', async (id) => void (await approvalsOf(api).expire(String(id)))],
  ] as const satisfies readonly (readonly [string, (id: unknown) => Promise<void>])[])
    it(`expires when ${what} finds its time over, and returns everything`, async () => {
      const before = await own.money();
      const { id } = await authorise({ capture_within_s: 60 });
      pass(60_000);
      await find(id);
      await assertEnded(own, id, 'expired');
      assert.deepEqual([await own.money(), await own.used()], [before, 0n]);
    });

  it('replays its result, and refuses the key for another amount', async () => {
    const key = randomUUID();
    const { id } = await authorise();
    answered(await capture(id, amount(LEAST), { key }), 200);
    const again = answered(await capture(id, amount(LEAST), { key }), 200);
    assert.equal(again.headers.get('svc-idempotent-replayed'), 'true');
    answered(await capture(id, amount(LEAST + 1n), { key }), 409, 'idempotency_key_reused');
    assert.equal(await own.bank.available(own.receiver), LEAST);
  });

  it('gives the month of its creation the difference back, also in the next month', async () => {
    now = instant(Date.parse('2036-05-31T23:00:00.000Z'));
    const { id } = await authorise();
    pass(DAY_MS);
    answered(await capture(id, amount(LEAST)), 200);
    assert.equal(await own.used(), 0n);
    const rows = await db.database.reader.query(
      `SELECT month, CAST(used AS CHAR) AS used FROM month_totals WHERE account_id=${idLiteral(own.guarded.id)}`,
    );
    assert.deepEqual(
      rows.map((row) => [String(row.month), String(row.used)]),
      [['2036-05', `${LEAST}`]],
    );
  });

  it('has one outcome if captures, cancels and its expiry race', async () => {
    for (let round = 0; round < 10; round += 1) {
      const receiver = await own.account();
      const { id } = await authorise({ to: receiver, capture_within_s: 60 });
      if (round % 2 === 0) pass(60_000);
      await Promise.all([
        ...Array.from({ length: 8 }, (_, one) => capture(id, amount(LEAST + BigInt(one)))),
        own.act('cancel', id, 'admin'),
        own.act('cancel', id, 'creator'),
        approvalsOf(api).expireDue(100),
        approvalsOf(api).expire(String(id)),
      ]);
      const { status } = await own.read(id);
      assert.equal((await own.events(id)).length, 1);
      assert.equal((await own.money()).held, 0n);
      const paid = (await balanceOf(db.database, receiver.id)).available;
      assert.equal(paid > 0n, status === 'completed', String(status));
    }
  });
});
