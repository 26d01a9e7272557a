import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { closeAccount, freezeAccount, unfreezeAccount } from '../../src/accounts/status.js';
import { instant, systemClock } from '../../src/core/instant.js';
import type { Account } from '../../src/db/entities/parties.js';
import { setFeeAccount } from '../../src/operations/fees.js';
import { paidBatch } from '../batches/support.js';
import { startTestApi, type TestAnswer } from '../helpers/api.js';
import {
  answered,
  type Bank,
  idLiteral,
  type Json,
  LEAST,
  list,
  object,
  openBank,
  text,
  walk,
} from '../helpers/bank.js';
import { testDatabase } from '../helpers/database.js';
import { describedApi } from '../helpers/described.js';
import {
  approvalsOf,
  assertEnded,
  EXPIRES_IN_S,
  type GuardedBank,
  openGuarded,
} from '../helpers/guarded.js';
import { assertLedgerSound, setFee, TEST_ACTOR } from '../helpers/world.js';

const RAW = 8n * LEAST;
const DECIDED = { actor: TEST_ACTOR, reason: 'a test' };

const db = await testDatabase();
let now = systemClock();
const clock = () => now;
const api = await describedApi(await startTestApi(db, {}, { clock }));
const other = await startTestApi(db, {}, { clock });

describe('refunds', () => {
  /** The tenant whose guarded account receives. Refunds of `THRESHOLD` or more need an approval. */
  let own: GuardedBank;
  let bank: Bank;
  let payer: Account;

  beforeEach(async () => {
    own = await openGuarded(api, {}, { account: { funds: {} } });
    ({ bank } = own);
    payer = await own.account({ funds: { COPM: 1_000n * LEAST, DUSD: 1_000n * LEAST } });
  });

  afterEach(() => assertLedgerSound(db.database));

  const amount = (raw: bigint, asset = 'COPM') => ({ amount: { raw: raw.toString(), asset } });
  const shown = (raw: bigint) => amount(raw).amount;
  const pay = (more: Partial<Parameters<Bank['send']>[0]> = {}): Promise<Json> =>
    bank.sent({ from: payer, to: own.guarded, raw: RAW, ...more });
  const payBonus = async (to = own.guarded): Promise<Json> => {
    const body = { source_account: payer.id, recipient: { account_id: to.id }, ...amount(RAW) };
    return answered(await bank.request('POST', '/v1/bonuses', { body }), 201).json;
  };
  const refund = (
    id: unknown,
    body: Json = {},
    options = {},
    of = 'transfers',
  ): Promise<TestAnswer> =>
    bank.request('POST', `/v1/${of}/${String(id)}/refunds`, {
      ...{ body, token: own.tokens.creator, ...options },
    });
  const read = async (id: unknown, of = 'transfers'): Promise<Json> =>
    answered(await bank.get(`/v1/${of}/${text(id)}`), 200).json;
  /** The answer is 404, and says what named the missing resource. */
  const assertMissing = (answer: TestAnswer, field: string): void => {
    const { json } = answered(answer, 404, 'not_found');
    assert.deepEqual(object(object(json.error).details), { field });
  };
  const sumsOf = async (id: unknown): Promise<readonly string[]> => {
    const [row] = await db.database.reader.query(
      `SELECT CAST(refunded_raw AS CHAR) AS a, CAST(refunding_raw AS CHAR) AS b FROM transfers WHERE id=${idLiteral(text(id))}`,
    );
    return [String(row?.a), String(row?.b)];
  };

  it('sends a part back without a fee, a month or a minimum, and then all that is left', async () => {
    const fees = await own.account();
    await setFeeAccount(db.deps, bank.tenant.tenant.id, fees.id, TEST_ACTOR);
    const { id: tenantId } = bank.tenant.tenant;
    await setFee(db.database, { tenantId, operation: 'transfer', basisPoints: 100n });
    const paid = await pay();
    assert.deepEqual([paid.refunded, paid.refund_of], [shown(0n), null]);
    const fee = BigInt(text(object(paid.fee).raw));
    assert.ok(fee > 0n);
    const [before, month] = [await bank.available(payer), await own.used(payer)];
    const body = { ...amount(1n), description: 'Shoes', metadata: { case: '7' } };
    const { json } = answered(await refund(paid.id, body), 201);
    const { id, created_at: at, ...rest } = json;
    assert.deepEqual(rest, {
      ...{ scope: 'internal', status: 'completed', source_account: own.guarded.id },
      ...{ destination: { type: 'account', account_id: payer.id }, amount: shown(1n) },
      ...{ fee: shown(0n), description: 'Shoes', metadata: { case: '7' }, approval: null },
      ...{ capture: 'automatic', capture_expires_at: null, captured: null, refunded: shown(0n) },
      ...{ refund_of: { type: 'transfer', id: paid.id }, rejection: null, schedule: null },
    });
    assert.equal(typeof at, 'string');
    assert.deepEqual((await read(paid.id)).refunded, shown(1n));
    assert.deepEqual(await own.events(id), [{ type: 'transfer.completed', object: json }]);
    const whole = answered(await refund(paid.id), 201).json;
    assert.deepEqual(object(whole.amount), shown(RAW - 1n));
    assert.deepEqual((await read(paid.id)).refunded, shown(RAW));
    assert.deepEqual(
      [await bank.available(payer), await bank.available(own.guarded), await own.used(payer)],
      [before + RAW, 0n, month],
    );
    assert.equal(await own.used(), 0n);
    assert.equal(await bank.available(fees), fee);
    const { items } = (await bank.get(`/v1/accounts/${payer.id}/movements?limit=2`)).json;
    assert.deepEqual(
      list(items).map(({ kind, related }) => [kind, object(related)]),
      [whole.id, id].map((one) => ['transfer_in', { type: 'transfer', id: one }]),
    );
    const { json: refused } = answered(await refund(paid.id), 422, 'refund_exceeds_amount');
    assert.deepEqual(object(object(refused.error).details), { refundable: shown(0n) });
  });

  it('lists the refunds of one original, alone and with other filters, and finds one by its request', async () => {
    const [paid, untouched, bonus] = [await pay(), await pay(), await payBonus()];
    const labelled = { ...amount(LEAST), metadata: { invoice: 'R-1' } };
    const first = answered(await refund(paid.id, labelled), 201);
    const second = answered(await refund(paid.id, amount(LEAST)), 201);
    const third = answered(await refund(bonus.id, amount(LEAST), {}, 'bonuses'), 201);
    const listed = async (query: string): Promise<unknown[]> =>
      (await walk(bank, `/v1/transfers?limit=1&${query}`)).map(({ id }) => id);
    assert.deepEqual(await listed(`refund_of=${text(paid.id)}`), [second.json.id, first.json.id]);
    assert.deepEqual(await listed(`refund_of=${text(bonus.id)}`), [third.json.id]);
    assert.deepEqual(await listed(`refund_of=${text(untouched.id)}`), []);
    assert.deepEqual(await listed(`refund_of=${randomUUID()}`), []);
    const pair = `refund_of=${text(paid.id)}&metadata[invoice]=R-1`;
    assert.deepEqual(await listed(pair), [first.json.id]);
    assert.deepEqual(await listed(`${pair}&status=rejected`), []);
    assert.deepEqual(await listed(`refund_of=${text(bonus.id)}&metadata[invoice]=R-1`), []);
    answered(await bank.get('/v1/transfers?refund_of=x'), 400, 'invalid_field');
    const requestId = text(first.headers.get('svc-request-id'));
    assert.deepEqual(await listed(`request_id=${requestId}`), [first.json.id]);
    const request = { token: own.tokens.creator };
    const found = await bank.request('GET', `/v1/requests/${requestId}`, request);
    assert.deepEqual(
      [answered(found, 200).json.path, found.json.status],
      [`/v1/transfers/${text(paid.id)}/refunds`, 201],
    );
    // The index keeps the original if the metadata changes.
    const change = { body: { metadata: { invoice: null } } };
    answered(await bank.request('PATCH', `/v1/transfers/${text(first.json.id)}`, change), 200);
    assert.deepEqual(await listed(`refund_of=${text(paid.id)}`), [second.json.id, first.json.id]);
  });

  it('refuses malformed requests', async () => {
    const { id } = await pay();
    for (const [field, body] of [
      ['amount', { amount: '1' }],
      ['amount.raw', { amount: { raw: '1.5', asset: 'COPM' } }],
      ['amount.raw', { amount: { raw: 1, asset: 'COPM' } }],
      ['amount.raw', { amount: { raw: '-1', asset: 'COPM' } }],
      ['amount.raw', { amount: { raw: '9223372036854775808', asset: 'COPM' } }],
      ['amount.asset', { amount: { raw: '1', asset: 'USD' } }],
      ['amount.asset', amount(1n, 'DUSD')],
      ['description', { description: 'x'.repeat(141) }],
      ['description', { description: 7 }],
      ['metadata.Invoice', { metadata: { Invoice: 'a' } }],
      ['source_account', { source_account: payer.id }],
      ['destination', { destination: { type: 'account', account_id: payer.id } }],
      ['capture', { capture: 'manual' }],
      ['', []],
    ] as const) {
      const { json } = answered(await refund(id, body as Json), 400, 'invalid_field');
      assert.equal(object(object(json.error).details).field, field);
    }
    answered(await refund(id, {}, { key: null }), 400, 'missing_idempotency_key');
    answered(await refund('x'), 404, 'not_found');
    answered(await refund(id, amount(0n)), 422, 'below_minimum');
    answered(await refund(id, { amount: null, description: null, metadata: null }), 201);
  });

  it('refuses the wrong people, foreign tenants, other states, refunds and more than is left', async () => {
    const paid = await pay();
    for (const person of ['approver', 'viewer', 'stranger'] as const) {
      const options = { token: own.tokens[person] };
      // Before the asset, which needs the original.
      answered(await refund(paid.id, amount(1n, 'DUSD'), options), 403, 'authority_insufficient');
    }
    const foreign = await openBank(api);
    assertMissing(await refund(paid.id, amount(1n, 'DUSD'), { token: foreign.token }), 'path');
    assertMissing(await refund(paid.id, {}, {}, 'bonuses'), 'path');
    assertMissing(await refund(randomUUID()), 'path');
    // A role in the account that paid does not count.
    const elsewhere = await pay({ to: await bank.account() });
    answered(await refund(elsewhere.id), 403, 'authority_insufficient');
    const held = await pay({ capture: 'manual' });
    answered(await refund(held.id), 409, 'invalid_state');
    answered(await own.act('cancel', held.id, 'admin'), 200);
    answered(await refund(held.id), 409, 'invalid_state');
    const { json } = answered(
      await refund(paid.id, amount(RAW + 1n)),
      422,
      'refund_exceeds_amount',
    );
    assert.deepEqual(object(object(json.error).details), { refundable: shown(RAW) });
    const sent = answered(await refund(paid.id, amount(1n)), 201).json;
    answered(await refund(sent.id, {}, { token: bank.token }), 422, 'not_refundable');
    assert.deepEqual((await read(sent.id)).refunded, shown(0n));
  });

  it('replays its result, also a refusal, and refuses the key for another body or original', async () => {
    const [one, two] = [await pay(), await pay()];
    const key = randomUUID();
    const first = answered(await refund(one.id, amount(RAW), { key }), 201);
    const again = answered(await refund(one.id, { ...amount(RAW), metadata: {} }, { key }), 200);
    assert.deepEqual(
      [again.json.id, again.headers.get('svc-idempotent-replayed')],
      [first.json.id, 'true'],
    );
    answered(await refund(one.id, amount(1n), { key }), 409, 'idempotency_key_reused');
    answered(await refund(one.id, {}, { key }), 409, 'idempotency_key_reused');
    answered(await refund(two.id, amount(RAW), { key }), 409, 'idempotency_key_reused');
    const refused = randomUUID();
    for (let turn = 0; turn < 2; turn += 1)
      answered(await refund(one.id, {}, { key: refused }), 422, 'refund_exceeds_amount');
  });

  it('needs funds and an account that can send, and a payer that is not closed', async () => {
    const closing = await own.account({ funds: { COPM: RAW } });
    const [paid, closed] = [await pay(), await pay({ from: closing })];
    await freezeAccount(db.deps, own.guarded.id, DECIDED);
    answered(await refund(paid.id), 422, 'capability_cannot_send');
    await unfreezeAccount(db.deps, own.guarded.id, DECIDED);
    await freezeAccount(db.deps, payer.id, DECIDED);
    answered(await refund(paid.id, amount(LEAST)), 201);
    await closeAccount(db.deps, closing.id, DECIDED);
    assertMissing(await refund(closed.id), 'destination');
    await unfreezeAccount(db.deps, payer.id, DECIDED);
    await own.setPolicy({ threshold: 10n ** 12n });
    await bank.sent({ from: own.guarded, to: payer, raw: await bank.available(own.guarded) });
    answered(await refund(paid.id), 422, 'insufficient_funds');
    assert.deepEqual((await read(paid.id)).refunded, shown(LEAST));
  });

  it('at most what was captured, a single bonus, and a bonus of a batch', async () => {
    const held = await pay({ capture: 'manual' });
    const capture = { body: amount(LEAST), token: bank.token };
    answered(await bank.request('POST', `/v1/transfers/${text(held.id)}/capture`, capture), 200);
    answered(await refund(held.id, amount(LEAST + 1n)), 422, 'refund_exceeds_amount');
    assert.deepEqual(object(answered(await refund(held.id), 201).json.amount), shown(LEAST));
    const single = await payBonus();
    const back = answered(await refund(single.id, amount(LEAST), {}, 'bonuses'), 201).json;
    assert.deepEqual(back.refund_of, { type: 'bonus', id: single.id });
    assert.deepEqual((await read(single.id, 'bonuses')).refunded, shown(LEAST));
    await paidBatch(bank, payer, own.guarded);
    const [ofBatch] = await walk(bank, '/v1/bonuses?limit=1');
    assert.notEqual(ofBatch?.id, single.id);
    const whole = answered(await refund(ofBatch?.id, {}, {}, 'bonuses'), 201).json;
    assert.deepEqual(object(whole.amount), object(ofBatch?.amount));
    assert.deepEqual((await read(ofBatch?.id, 'bonuses')).refunded, object(ofBatch?.amount));
    answered(await refund(ofBatch?.id, {}, {}, 'bonuses'), 422, 'refund_exceeds_amount');
  });

  describe('that need an approval', () => {
    const wait = async (id: unknown, raw = LEAST): Promise<Json> =>
      answered(await refund(id, amount(raw)), 202).json;
    beforeEach(() => own.setPolicy({ threshold: 1n }));

    it('reserve their amount, and complete with the last approval', async () => {
      const { id } = await pay();
      const waiting = await wait(id, RAW - 1n);
      assert.deepEqual(
        [waiting.status, (await read(id)).refunded],
        ['pending_approval', shown(0n)],
      );
      assert.deepEqual(await sumsOf(id), ['0', `${RAW - 1n}`]);
      assert.deepEqual(await own.money(), { available: 1n, held: RAW - 1n });
      const { json } = answered(await refund(id, amount(2n)), 422, 'refund_exceeds_amount');
      assert.deepEqual(object(object(json.error).details), { refundable: shown(1n) });
      answered(await own.act('approve', waiting.id, 'creator'), 403, 'authority_insufficient');
      answered(await own.act('approve', waiting.id, 'approver'), 200);
      await assertEnded(own, waiting.id, 'completed');
      assert.deepEqual(await sumsOf(id), [`${RAW - 1n}`, '0']);
      assert.equal(await own.used(), 0n);
    });

    for (const [what, end, status] of [
      ['a reject', (id) => own.act('reject', id, 'approver'), 'rejected'],
      ['a cancel', (id) => own.act('cancel', id, 'creator'), 'rejected'],
      ['the expiry', async () => void (await approvalsOf(api).expireDue(1_000)), 'expired'],
    ] as const satisfies readonly (readonly [string, (id: unknown) => Promise<unknown>, string])[])
      it(`free their amount by ${what}`, async () => {
        const { id } = await pay();
        const waiting = await wait(id, RAW);
        if (status === 'expired') now = instant(now + EXPIRES_IN_S * 1_000);
        await end(waiting.id);
        assert.equal((await read(waiting.id)).status, status);
        assert.deepEqual(await sumsOf(id), ['0', '0']);
        assert.deepEqual(await own.money(), { available: RAW, held: 0n });
        assert.equal(await own.used(), 0n);
        await wait(id, RAW);
      });

    it('are rejected at the last approval if the payer was closed meanwhile, and free their amount', async () => {
      const closing = await own.account({ funds: { COPM: RAW } });
      const { id } = await pay({ from: closing });
      const waiting = await wait(id);
      await closeAccount(db.deps, closing.id, DECIDED);
      answered(await own.act('approve', waiting.id, 'approver'), 200);
      assert.equal((await read(waiting.id)).status, 'rejected');
      assert.deepEqual(await sumsOf(id), ['0', '0']);
    });

    it('of a bonus reserve and free its amount too', async () => {
      const { id } = await payBonus();
      const ask = () => refund(id, {}, {}, 'bonuses');
      const first = answered(await ask(), 202).json;
      answered(await ask(), 422, 'refund_exceeds_amount');
      answered(await own.act('reject', first.id, 'approver'), 200);
      const second = answered(await ask(), 202).json;
      answered(await own.act('approve', second.id, 'approver'), 200);
      assert.deepEqual((await read(id, 'bonuses')).refunded, shown(RAW));
    });
  });

  it('64 at once over two processes never exceed the original', async () => {
    const { id } = await pay();
    const part = LEAST / 2n + 1n;
    const answers = await Promise.all(
      Array.from({ length: 64 }, (_, index) =>
        (index % 2 === 0 ? api : other).request('POST', `/v1/transfers/${text(id)}/refunds`, {
          ...{ body: amount(part), token: own.tokens.creator },
        }),
      ),
    );
    const done = answers.filter(({ status }) => status === 201).length;
    assert.equal(BigInt(done), RAW / part);
    for (const { status, code } of answers)
      assert.ok(status === 201 || code === 'refund_exceeds_amount', code);
    assert.deepEqual((await read(id)).refunded, shown(BigInt(done) * part));
  });

  it('captures, cancels, the expiry and refunds of one transfer at once have one outcome', async () => {
    for (let round = 0; round < 8; round += 1) {
      const { id } = await pay({ capture: 'manual', capture_within_s: 60 });
      if (round % 2 === 0) now = instant(now + 60_000);
      const path = `/v1/transfers/${text(id)}`;
      const capture = (): Promise<TestAnswer> =>
        other.request('POST', `${path}/capture`, { body: amount(LEAST), token: bank.token });
      const [one, two] = await Promise.all([
        ...([capture(), capture(), refund(id, amount(LEAST)), refund(id)] as const),
        ...[bank.request('POST', `${path}/cancel`), refund(id, amount(1n)), refund(id)],
        approvalsOf(api).expireDue(1_000),
      ]);
      const captured = one.status === 200 || two.status === 200;
      const { status, refunded } = await read(id);
      assert.equal(status === 'completed', captured, String(status));
      const left = await refund(id);
      if (status !== 'completed') answered(left, 409, 'invalid_state');
      else assert.ok(left.status === 201 || left.code === 'refund_exceeds_amount');
      assert.ok(BigInt(text(object(refunded).raw)) <= (captured ? LEAST : 0n));
    }
  });

  it('approvals, rejects, cancels and the expiry of waiting refunds at once free or send each amount once', async () => {
    await own.setPolicy({ threshold: 1n });
    const { id } = await pay();
    for (let round = 0; round < 6; round += 1) {
      const waiting = answered(await refund(id, amount(LEAST)), 202).json.id;
      if (round % 2 === 0) now = instant(now + EXPIRES_IN_S * 1_000);
      await Promise.all([
        ...[own.act('approve', waiting, 'approver'), own.act('reject', waiting, 'admin')],
        ...[own.act('cancel', waiting, 'creator'), own.act('approve', waiting, 'second')],
        ...[approvalsOf(api).expireDue(1_000), approvalsOf(api).expire(text(waiting))],
      ]);
    }
    const refunds = await walk(bank, `/v1/transfers?refund_of=${text(id)}`);
    const sent = refunds.filter(({ status }) => status === 'completed').length;
    assert.deepEqual(await sumsOf(id), [`${LEAST * BigInt(sent)}`, '0']);
    assert.equal((await own.money()).held, 0n);
  });

  describe('within a network', () => {
    let there: Bank;
    let received: Account;
    let paid: Json;

    beforeEach(async () => {
      const network = `net-${randomUUID()}`;
      own = await openGuarded(api, {}, { tenant: { network }, account: { funds: {} } });
      ({ bank } = own);
      payer = await own.account({ funds: { COPM: 100n * LEAST } });
      there = await openBank(api, { network });
      received = await there.account();
      paid = await pay({ to: received });
    });

    const ask = (by: Bank, body: Json = {}): Promise<TestAnswer> =>
      by.request('POST', `/v1/transfers/${text(paid.id)}/refunds`, { body });

    it('the tenant that received refunds; the other sees the movement and the sum', async () => {
      assertMissing(await ask(bank), 'path');
      const { json } = answered(await ask(there, amount(LEAST)), 201);
      assert.deepEqual(
        [json.source_account, object(json.destination).account_id],
        [received.id, payer.id],
      );
      assert.deepEqual((await read(paid.id)).refunded, shown(LEAST));
      const query = `/v1/transfers?refund_of=${text(paid.id)}`;
      assert.deepEqual(
        [(await walk(there, query)).length, (await walk(bank, query)).length],
        [1, 0],
      );
      answered(await bank.get(`/v1/transfers/${text(json.id)}`), 404, 'not_found');
      assert.deepEqual(await own.events(json.id), []);
      const [movement] = list((await bank.get(`/v1/accounts/${payer.id}/movements`)).json.items);
      assert.deepEqual(object(movement?.related), { type: 'transfer', id: json.id });
      answered(await ask(there, amount(RAW)), 422, 'refund_exceeds_amount');
    });

    it('needs the approval of the account that received, by its own members', async () => {
      await there.guard(received, { threshold: 1n });
      const { id } = answered(await ask(there), 202).json;
      const approve = (by: Bank, token: string): Promise<TestAnswer> =>
        by.request('POST', `/v1/transfers/${text(id)}/approve`, { token });
      answered(await approve(bank, bank.token), 404, 'not_found');
      answered(await approve(there, there.token), 403, 'authority_insufficient');
      answered(await there.request('POST', `/v1/transfers/${text(id)}/cancel`), 200);
      assert.deepEqual(await sumsOf(paid.id), ['0', '0']);
    });

    it('is refused once the payer has left the network', async () => {
      await db.change(
        `UPDATE tenants SET network=NULL WHERE id=${idLiteral(bank.tenant.tenant.id)}`,
      );
      assertMissing(await ask(there), 'destination');
    });
  });
});
