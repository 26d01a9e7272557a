import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { grantRole, removeRole } from '../../src/members/roles.js';
import type { Account } from '../../src/db/entities/parties.js';
import { startTestApi } from '../helpers/api.js';
import {
  answered,
  type Bank,
  LEAST,
  list,
  object,
  openBank,
  setStatus,
  transferBody,
} from '../helpers/bank.js';
import { testDatabase } from '../helpers/database.js';
import { TEST_ACTOR } from '../helpers/world.js';
import { systemClock } from '../../src/core/instant.js';

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

const db = await testDatabase();
const api = await startTestApi(db);
const bank = await openBank(api);

describe('POST /v1/transfers', () => {
  let payer: Account;
  let receiver: Account;

  beforeEach(async () => {
    payer = await bank.account({ funds: { COPM: 10n * LEAST, DUSD: 10n * LEAST } });
    receiver = await bank.account();
  });

  it('answers 201 with the completed transfer, and moves exactly the amount', async () => {
    const answer = answered(
      await bank.send({ from: payer, to: receiver, raw: 150_000n, description: 'Rent' }),
      201,
    );
    const { id, created_at: createdAt, ...rest } = answer.json;
    assert.deepEqual(rest, {
      scope: 'internal',
      status: 'completed',
      source_account: payer.id,
      destination: { type: 'account', account_id: receiver.id },
      amount: { raw: '150000', asset: 'COPM' },
      fee: { raw: '0', asset: 'COPM' },
      description: 'Rent',
      metadata: {},
      approval: null,
      capture: 'automatic',
      capture_expires_at: null,
      captured: null,
      schedule: null,
      refunded: { raw: '0', asset: 'COPM' },
      refund_of: null,
      rejection: null,
    });
    assert.match(String(id), UUID_V7);
    assert.match(String(createdAt), TIME);
    assert.match(answer.headers.get('svc-request-id') ?? '', UUID_V7);
    assert.equal(answer.headers.get('svc-idempotent-replayed'), null);
    assert.deepEqual(
      [await bank.available(payer), await bank.available(receiver)],
      [850_000n, 150_000n],
    );
  });

  it('answers a repeated request in any spelling 200 with the same transfer, marked as a replay, and moves no money', async () => {
    const key = randomUUID();
    const body = transferBody({ from: payer, to: receiver, raw: LEAST });
    const { source_account: source, destination, amount } = body;
    const post = (sent: unknown, by: string): ReturnType<Bank['request']> =>
      bank.request('POST', '/v1/transfers', { body: sent, key: by });
    const first = answered(await post(body, key.toUpperCase()), 201);
    const spelled = `  {"amount" : {"asset":"COPM",\n"raw":"\\u0031${String(object(amount).raw).slice(1)}"},
      "destination":${JSON.stringify(destination)}, "source_account" : "${String(source)}"} `;
    for (const again of [await post(body, key), await post(spelled, key)]) {
      assert.equal(answered(again, 200).headers.get('svc-idempotent-replayed'), 'true');
      assert.deepEqual(again.json, first.json);
    }
    assert.equal(await bank.available(receiver), LEAST);
  });

  it('answers a used key with another body 409 idempotency_key_reused, and keeps the first result', async () => {
    const key = randomUUID();
    const transfer = { from: payer, to: receiver, raw: LEAST };
    const first = answered(await bank.send(transfer, { key }), 201);
    for (const change of [
      { raw: LEAST + 1n },
      { asset: 'DUSD' as const },
      { description: 'more' },
      { to: await bank.account() },
      { from: receiver, to: payer },
    ])
      answered(await bank.send({ ...transfer, ...change }, { key }), 409, 'idempotency_key_reused');
    assert.deepEqual(answered(await bank.send(transfer, { key }), 200).json, first.json);
    assert.equal(await bank.available(receiver), LEAST);
  });

  it('replays to any token of the tenant with the scope: also if the member no longer has a role, the destination was closed and the source was frozen since', async () => {
    const key = randomUUID();
    const transfer = { from: payer, to: receiver, raw: 10n * LEAST };
    const first = await bank.sent(transfer, { key });
    await bank.sent({ from: receiver, to: payer, raw: 10n * LEAST });
    const { database } = api.core;
    await grantRole(database, systemClock, await bank.member(), payer.id, 'owner', TEST_ACTOR);
    await removeRole(database, systemClock, bank.tenant.owner, payer.id, TEST_ACTOR);
    answered(await bank.send(transfer), 403, 'authority_insufficient');
    await setStatus(db, receiver, 'closed');
    await setStatus(db, payer, 'frozen');
    assert.equal(answered(await bank.send(transfer, { key }), 200).json.id, first.id);
  });

  it('stores a description in NFC of at most 140 code points, and accepts an absent, null or empty one', async () => {
    const transfer = { from: payer, to: receiver, raw: LEAST };
    assert.equal((await bank.sent(transfer)).description, null);
    for (const [description, shown] of [
      [null, null],
      ['', ''],
      ['Cafe\u0301', 'Caf\u00e9'],
      ['💸'.repeat(140), '💸'.repeat(140)],
      // 280 code points as sent, 140 in NFC.
      ['e\u0301'.repeat(140), '\u00e9'.repeat(140)],
    ] as const)
      assert.equal((await bank.sent({ ...transfer, description })).description, shown);
    const refused = await bank.send({ ...transfer, description: '💸'.repeat(141) });
    const { details } = answered(refused, 400, 'invalid_field');
    assert.deepEqual([details?.field, details?.reason], ['description', 'too_long']);
  });

  it('pays to another tenant of the network, still as internal; the transfer belongs to the sender', async () => {
    const network = `net-${randomUUID()}`;
    const [own, other] = [await openBank(api, { network }), await openBank(api, { network })];
    const from = await own.account({ funds: { COPM: LEAST } });
    const to = await other.account();
    const transfer = await own.sent({ from, to, raw: LEAST });
    assert.equal(transfer.scope, 'internal');
    assert.equal(await other.available(to), LEAST);
    answered(await other.get(`/v1/transfers/${String(transfer.id)}`), 404, 'not_found');
    assert.deepEqual(list((await other.get('/v1/transfers')).json.items), []);
    assert.deepEqual(list((await other.get('/v1/events')).json.items), []);
    assert.equal(list((await own.get('/v1/events')).json.items).length, 1);
    const [movement] = list((await other.get(`/v1/accounts/${to.id}/movements`)).json.items);
    assert.deepEqual(
      [movement?.kind, object(movement?.counterparty).tenant],
      ['transfer_in', own.tenant.tenant.id],
    );
  });

  it('pays to an account that is frozen or unverified', async () => {
    await setStatus(db, receiver, 'frozen');
    const unverified = await bank.account({ isVerified: false, type: 'person' });
    for (const to of [receiver, unverified]) {
      await bank.sent({ from: payer, to, raw: LEAST });
      assert.equal(await bank.available(to), LEAST);
    }
  });

  it('writes one transfer.completed into the log, whose object is the transfer', async () => {
    const own = await openBank(api);
    const from = await own.account({ funds: { COPM: LEAST } });
    const transfer = await own.sent({ from, to: await own.account(), raw: LEAST });
    const [event, ...others] = list((await own.get('/v1/events')).json.items);
    assert.deepEqual([event?.type, others], ['transfer.completed', []]);
    assert.deepEqual(object(event?.data).object, transfer);
  });
});
