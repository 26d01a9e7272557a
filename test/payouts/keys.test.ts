import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { payoutSecrets, type Payout } from '../../src/db/entities/payouts.js';
import { openSecrets } from '../../src/payouts/service.js';
import type { KeyHolder } from '../../src/payouts/rails/rail.js';
import { asUuid, newId, type Uuid } from '../../src/core/ids.js';
import { instant } from '../../src/core/instant.js';
import { startTestApi, TEST_KEYRING, type TestAnswer } from '../helpers/api.js';
import { answered, type Json, LEAST, object, openBank, text } from '../helpers/bank.js';
import { testDatabase } from '../helpers/database.js';
import { describedApi } from '../helpers/described.js';
import { assertLedgerSound, balanceOf } from '../helpers/world.js';
import {
  assertSameStory,
  forgetRails,
  openPayoutBank,
  payoutBody,
  type PayoutBank,
  railEventsOf,
  railsOf,
  rowOf,
  statusesOf,
} from './support.js';
import { type Answer, say, ScriptedRail } from './scripted-rail.js';

const db = await testDatabase();
const api = await describedApi(await startTestApi(db));
const PHONE = '3001112233';

function toKey(key = PHONE, holderCheck?: string): Json {
  const check = holderCheck === undefined ? {} : { holder_check: holderCheck };
  return { type: 'bre_b_key', key, ...check };
}

function held(holder: string): KeyHolder {
  return { holder, holderName: 'Luz Rojas', bankCode: '0007', accountType: 'savings' };
}

describe('payouts by key', () => {
  let own: PayoutBank;

  beforeEach(async () => {
    own = await openPayoutBank(api);
  });
  after(async () => {
    await assertLedgerSound(db.database);
    await api.stop();
  });

  const lookUp = (key: string, token = own.bank.token): Promise<TestAnswer> =>
    api.request('GET', `/v1/payout_recipients?key=${encodeURIComponent(key)}`, { token });
  const checkOf = async (key: string): Promise<string> =>
    text(answered(await lookUp(key), 200).json.holder_check);
  const send = (destination: Json, options: Parameters<PayoutBank['ask']>[1] = {}) =>
    own.bank.request('POST', '/v1/payouts', {
      body: { ...payoutBody({ from: own.source }), destination },
      ...options,
    });
  const pay = async (destination: Json): Promise<Uuid> =>
    asUuid(text(answered(await send(destination), 201).json.id));
  const failureOf = async (id: Uuid): Promise<[Payout['status'], string | null]> => {
    const { status, failureCode } = await rowOf(db, id);
    return [status, failureCode];
  };

  it('GET /v1/payout_recipients shows who holds a key, masked, and nothing else', async () => {
    for (const [key, type] of [
      [PHONE, 'phone'],
      ['1020304050', 'document'],
      ['ana@example.com', 'email'],
      ['@ana01', 'alias'],
      ['0012345678', 'merchant'],
    ] as const) {
      const { json } = answered(await lookUp(key), 200);
      const { holder_check: check, ...shown } = json;
      assert.deepEqual(shown, {
        key_type: type,
        holder_name: 'Ana M*** P***',
        bank_code: '0007',
        account_type: 'savings',
      });
      assert.match(text(check), /^[A-Za-z0-9_-]+$/);
    }
  });

  it('GET /v1/payout_recipients answers 404 to a key without a holder, 400 to what is no key, and 503 if the rail does not say', async () => {
    const { details } = answered(await lookUp('3001112208'), 404, 'not_found');
    assert.equal(details?.field, 'key');
    answered(await lookUp('3001112210'), 503, 'rail_unavailable');
    const token = own.bank.token;
    for (const [query, reason] of [
      ['', 'required'],
      ['?key=', 'malformed'],
      ['?key=123', 'malformed'],
      ['?key=300%20111%202233', 'malformed'],
      ['?key=@%C3%A1lvaro', 'malformed'],
      [`?key=${'1'.repeat(101)}`, 'malformed'],
      ['?key=0012345678&key=0012345678', 'repeated'],
      ['?key=0012345678&bank=1', 'unknown'],
    ] as const) {
      const answer = await api.request('GET', `/v1/payout_recipients${query}`, { token });
      assert.equal(answered(answer, 400, 'invalid_field').details?.reason, reason, query);
    }
  });

  it('GET /v1/payout_recipients takes new keys from the budget of new recipients, and known keys are free', async () => {
    const small = await startTestApi(db, { NEW_RECIPIENTS: '2/2' });
    try {
      const ask = (key: string) =>
        small.request('GET', `/v1/payout_recipients?key=${key}`, { token: own.bank.token });
      answered(await ask('3001112201'), 200);
      answered(await ask('3001112208'), 404, 'not_found');
      answered(await ask('3001112202'), 429, 'rate_limited');
      answered(await ask('3001112201'), 200);
      answered(await ask('3001112208'), 404, 'not_found');
    } finally {
      await small.stop();
    }
  });

  it('POST /v1/payouts pays a key, which is stored sealed and shown by its end', async () => {
    const answer = answered(await send(toKey(PHONE, await checkOf(PHONE))), 201).json;
    const id = asUuid(text(answer.id));
    assert.deepEqual(answer.destination, {
      type: 'bre_b_key',
      key: '****2233',
      key_type: 'phone',
    });
    const secrets = await db.database.reader.find(payoutSecrets, { id });
    assert(secrets !== undefined);
    assert.deepEqual(openSecrets(TEST_KEYRING, secrets), {
      key: PHONE,
      holder: 'SIM-HOLDER',
    });
    await railsOf(db).submissions.submit(id);
    assert.deepEqual(await own.get(id).then(statusesOf), ['approved', 'in_progress', 'completed']);
    await assertSameStory(own, id);
    const [movement] = await own.movements();
    const { display_name: name, type } = object(movement?.counterparty);
    assert.deepEqual([name, type], ['****2233', 'bank_account']);
    for (const table of ['payouts', 'events', 'payout_rail_events', 'known_recipients', 'requests'])
      assert(!JSON.stringify(await db.sql(`SELECT * FROM ${table}`)).includes(PHONE), table);
  });

  it('POST /v1/payouts refuses a key or holder check that is wrong, and leaves the idempotency key free', async () => {
    const check = await checkOf(PHONE);
    const foreign = await openBank(api);
    const theirs = text(answered(await lookUp(PHONE, foreign.token), 200).json.holder_check);
    const key = randomUUID();
    for (const [destination, field, reason] of [
      [toKey('no key'), 'key', 'malformed'],
      [toKey('12'), 'key', 'malformed'],
      [toKey('abcdef'), 'key', 'malformed'],
      [{ ...toKey(), key_type: 'phone' }, 'key_type', 'unknown'],
      [{ ...toKey(), country: 'CO' }, 'country', 'unknown'],
      [toKey(PHONE, 'forged'), 'holder_check', 'not_a_check_of_this_key'],
      [toKey(PHONE, `${check.slice(0, -2)}AA`), 'holder_check', 'not_a_check_of_this_key'],
      [toKey('3001112234', check), 'holder_check', 'not_a_check_of_this_key'],
      [toKey(PHONE, theirs), 'holder_check', 'not_a_check_of_this_key'],
    ] as const) {
      const { details } = answered(await send(destination, { key }), 400, 'invalid_field');
      assert.deepEqual([details?.field, details?.reason], [`destination.${field}`, reason]);
    }
    for (const destination of [{ type: 'bre_b_key' }, { type: null }, {}])
      answered(await send(destination, { key }), 400, 'missing_field');
    answered(await send(toKey(PHONE, check), { key }), 201);
  });

  it('POST /v1/payouts answers a repeated key even when its holder check has expired since', async () => {
    const [check, key] = [await checkOf(PHONE), randomUUID()];
    const first = answered(await send(toKey(PHONE, check), { key }), 201).json;
    const later = await startTestApi(db, {}, { clock: () => instant(Date.now() + 3_601_000) });
    try {
      const body = { ...payoutBody({ from: own.source }), destination: toKey(PHONE, check) };
      const ask = (again: string) =>
        later.request('POST', '/v1/payouts', { token: own.bank.token, key: again, body });
      assert.equal(answered(await ask(key), 200).json.id, first.id);
      const { details } = answered(await ask(randomUUID()), 400, 'invalid_field');
      assert.deepEqual([details?.field, details?.reason], ['destination.holder_check', 'expired']);
    } finally {
      await later.stop();
    }
  });

  it('POST /v1/payouts refuses a type or an amount that the rail does not take', async () => {
    const limited = {
      simulated: { destinations: { bre_b_key: { COPM: { max: `${2n * LEAST}` } } } },
    };
    const other = await startTestApi(db, { PAYOUT_RAIL_TERMS: JSON.stringify(limited) });
    const closed = await startTestApi(db, {
      PAYOUT_RAIL_TERMS: '{"simulated": {"destinations": {"bank_account": {}}}}',
    });
    try {
      const body = (change: Json) => ({ ...payoutBody({ from: own.source }), ...change });
      for (const [at, change] of [
        [closed, { destination: toKey() }],
        [other, {}],
        [other, { destination: toKey(), amount: { raw: `${2n * LEAST + 1n}`, asset: 'COPM' } }],
      ] as const) {
        const answer = await at.request('POST', '/v1/payouts', {
          token: own.bank.token,
          body: body(change),
        });
        const { details } = answered(answer, 400, 'invalid_field');
        assert.deepEqual([details?.field, details?.reason], ['destination.type', 'not_supported']);
      }
      const { details } = answered(
        await closed.request('GET', `/v1/payout_recipients?key=${PHONE}`, {
          token: own.bank.token,
        }),
        400,
        'invalid_field',
      );
      assert.deepEqual([details?.field, details?.reason], ['key', 'not_supported']);
    } finally {
      await Promise.all([other.stop(), closed.stop()]);
    }
  });

  it('a payout whose key belongs to somebody else fails before money leaves, once, and its hold is released', async () => {
    const key = '3001112209';
    const id = await pay(toKey(key, await checkOf(key)));
    const rails = railsOf(db);
    await Promise.all(Array.from({ length: 4 }, () => rails.submissions.submit(id)));
    const shown = await own.get(id);
    assert.deepEqual(statusesOf(shown), ['approved', 'failed']);
    assert.equal(object(shown.failure).code, 'recipient_changed');
    assert.equal((await balanceOf(db.database, own.source.id)).held, 0n);
    const { submittedAt, attempts, nextPollAt } = await rowOf(db, id);
    assert.deepEqual([submittedAt, attempts, nextPollAt], [null, 0, null]);
    assert.equal(await rails.simulated.status(id), null);
    const events = (await railEventsOf(db, id)).map(({ kind, effect }) => `${kind} ${effect}`);
    assert.deepEqual(events, ['resolve applied']);
    await assertSameStory(own, id);
  });

  it('a key without a holder check is paid whoever holds it', async () => {
    const id = await pay(toKey('3001112209'));
    await railsOf(db).submissions.submit(id);
    assert.deepEqual(await failureOf(id), ['completed', null]);
  });

  const over = (holders: ScriptedRail['holders'], ...answers: Answer[]) => {
    const rail = new ScriptedRail(...answers);
    rail.holders = holders;
    return { rail, rails: railsOf(db, { rail }) };
  };
  const checked = async (): Promise<Uuid> => pay(toKey(PHONE, await checkOf(PHONE)));

  it('a payout waits, and can be canceled, while its rail does not say who holds the key', async () => {
    const id = await checked();
    const { rail, rails } = over(['silent', held('SIM-HOLDER')], say('completed'));
    const first = await rails.submissions.submit(id);
    assert.deepEqual([first.isHeld, first.isUnresolved], [true, true]);
    assert.deepEqual([rail.given.length, (await rowOf(db, id)).status], [0, 'approved']);
    assert(await rails.breakers.isClosed('simulated'), 'it is not the rail that is away');
    await rails.submissions.submit(id);
    assert.deepEqual(await failureOf(id), ['completed', null]);
    const waiting = await checked();
    await over(['silent']).rails.submissions.submit(waiting);
    answered(await own.act('cancel', waiting, own.bank.token), 200);
  });

  it('the breaker of a rail closes even if none of its waiting payouts can be sent, because the rail does not say who holds their keys, or because this process cannot read them', async () => {
    await forgetRails(db);
    const ids = [await checked(), await checked()];
    const other = [{ id: 'other', secret: Buffer.alloc(32, 8) }] as const;
    for (const keyring of [{}, { encryptionKeys: other }]) {
      const rail = new ScriptedRail(null);
      const breaker = { opensAfter: 1, probeAfterMs: 0 };
      const { breakers, recovery } = railsOf(db, { rail, breaker, ...keyring });
      await breakers.recordFailure('simulated', newId(), 'no answer');
      assert.equal(await breakers.isClosed('simulated'), false);
      await recovery.probeDue('simulated');
      assert.equal(await breakers.isClosed('simulated'), true);
      assert.equal(rail.given.length, 0);
      assert.equal(rail.asked.length, 1);
    }
    for (const id of ids) {
      const { status, attempts } = await rowOf(db, id);
      assert.deepEqual([status, attempts], ['approved', 0]);
    }
  });

  it('a payout whose key no longer exists fails as unknown before money leaves', async () => {
    const id = await checked();
    const { rail, rails } = over([null]);
    await rails.submissions.submit(id);
    assert.deepEqual(await failureOf(id), ['failed', 'account_unknown']);
    assert.equal(rail.given.length, 0);
  });

  it('once an order may have been sent, a changed holder ends the payout only if the rail denies the payment', async () => {
    for (const [answer, status, code] of [
      [say('voided', null, null), 'failed', 'recipient_changed'],
      [say('failed', 'account_closed'), 'failed', 'account_closed'],
      [say('completed'), 'completed', null],
      [say('accepted'), 'in_progress', null],
      ['silent', 'in_progress', null],
      [null, 'in_progress', null],
    ] as const) {
      const id = await checked();
      // The first order is lost on its way: the rail does not have it when it is asked.
      const { rail, rails } = over([held('SIM-HOLDER'), held('other')], 'silent', null, answer);
      await rails.submissions.submit(id);
      assert.deepEqual(await failureOf(id), ['in_progress', null]);
      await rails.submissions.poll(id);
      assert.deepEqual([rail.given.length, rail.voided], [1, [id]]);
      assert.deepEqual(await failureOf(id), [status, code], JSON.stringify(answer));
      // Where nothing is known, the rail is asked again, and the same holder is paid.
      if (status !== 'in_progress') continue;
      const again = over([held('SIM-HOLDER')], null, say('completed'));
      await again.rails.submissions.poll(id);
      const isKnown = answer !== 'silent' && answer !== null;
      assert.equal((await rowOf(db, id)).status, isKnown ? 'in_progress' : 'completed');
    }
  });

  it('a holder who changes after the order was sent changes nothing', async () => {
    const id = await checked();
    const { rail, rails } = over(
      [held('SIM-HOLDER'), held('other')],
      say('accepted'),
      say('completed'),
    );
    await rails.submissions.submit(id);
    await rails.submissions.submit(id);
    assert.deepEqual(await failureOf(id), ['completed', null]);
    assert.deepEqual([rail.given.length, rail.resolved.length], [1, 1]);
    const [order] = rail.given;
    assert.deepEqual(order?.destination, {
      type: 'bre_b_key',
      keyType: 'phone',
      key: PHONE,
      holder: 'SIM-HOLDER',
    });
  });

  it('a payout that its rail has reported before it was sent is not failed for its holder', async () => {
    const id = await checked();
    const { rails } = over([held('other')]);
    await rails.callbacks.report('simulated', {
      ...{ key: id, callbackId: randomUUID() },
      ...say('completed'),
    });
    const { isHeld } = await rails.submissions.submit(id);
    assert.equal(isHeld, true);
    assert.deepEqual(
      [(await rowOf(db, id)).status, (await rowOf(db, id)).stuckReason],
      ['approved', 'contradiction'],
    );
  });
});
