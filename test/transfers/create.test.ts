import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { removeRole } from '../../src/access/members.js';
import type { Account } from '../../src/db/entities/parties.js';
import { startTestApi } from '../support/api.js';
import {
  answered,
  type Bank,
  LEAST,
  list,
  object,
  openBank,
  setStatus,
  transferBody,
} from '../support/bank.js';
import { testDatabase } from '../support/database.js';
import { TEST_ACTOR } from '../support/world.js';
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

  it('POST /v1/transfers answers 201 with the completed transfer, and moves exactly the amount', async () => {
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
      approval: null,
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

  it('POST /v1/transfers moves each asset separately', async () => {
    await bank.sent({ from: payer, to: receiver, raw: LEAST, asset: 'DUSD' });
    assert.deepEqual(
      [await bank.available(payer, 'COPM'), await bank.available(receiver, 'COPM')],
      [10n * LEAST, 0n],
    );
    assert.deepEqual(
      [await bank.available(payer, 'DUSD'), await bank.available(receiver, 'DUSD')],
      [9n * LEAST, LEAST],
    );
  });

  it('POST /v1/transfers moves all that is available, to the last unit', async () => {
    await bank.sent({ from: payer, to: receiver, raw: 10n * LEAST });
    assert.equal(await bank.available(payer), 0n);
  });

  it('POST /v1/transfers answers a repeated request 200 with the same transfer, says that it is a replay, and moves nothing, however key and body are spelled', async () => {
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

  it('POST /v1/transfers answers a used key with another body 409 idempotency_key_reused, and keeps the first result', async () => {
    const key = randomUUID();
    const first = answered(
      await bank.send({ from: payer, to: receiver, raw: LEAST }, { key }),
      201,
    );
    const other = await bank.account();
    const changed: Parameters<Bank['send']>[0][] = [
      { from: payer, to: receiver, raw: LEAST + 1n },
      { from: payer, to: receiver, raw: LEAST, asset: 'DUSD' },
      { from: payer, to: receiver, raw: LEAST, description: 'more' },
      { from: payer, to: other, raw: LEAST },
      { from: receiver, to: payer, raw: LEAST },
    ];
    for (const transfer of changed)
      answered(await bank.send(transfer, { key }), 409, 'idempotency_key_reused');
    const again = answered(
      await bank.send({ from: payer, to: receiver, raw: LEAST }, { key }),
      200,
    );
    assert.deepEqual(again.json, first.json);
    assert.equal(await bank.available(receiver), LEAST);
  });

  it('POST /v1/transfers replays to any token of the tenant with the scope: also if the member no longer has a role, the destination was closed and the source was frozen since', async () => {
    const key = randomUUID();
    const first = answered(
      await bank.send({ from: payer, to: receiver, raw: 10n * LEAST }, { key }),
      201,
    );
    await bank.sent({ from: receiver, to: payer, raw: 10n * LEAST });
    await removeRole(api.core.database, systemClock, bank.tenant.owner, payer.id, TEST_ACTOR);
    answered(
      await bank.send({ from: payer, to: receiver, raw: LEAST }),
      403,
      'authority_insufficient',
    );
    await setStatus(db, receiver, 'closed');
    await setStatus(db, payer, 'frozen');
    const again = answered(
      await bank.send({ from: payer, to: receiver, raw: 10n * LEAST }, { key }),
      200,
    );
    assert.equal(again.json.id, first.json.id);
  });

  it('POST /v1/transfers accepts no description, null and an empty one', async () => {
    for (const [description, shown] of [
      [undefined, null],
      [null, null],
      ['', ''],
    ] as const) {
      const transfer = {
        from: payer,
        to: receiver,
        raw: LEAST,
        ...(description === undefined ? {} : { description }),
      };
      assert.equal((await bank.sent(transfer)).description, shown);
    }
  });

  it('POST /v1/transfers keeps a description in NFC, counted in code points: 140 are the most', async () => {
    const sent = async (description: string): Promise<unknown> =>
      (await bank.sent({ from: payer, to: receiver, raw: LEAST, description })).description;
    assert.equal(await sent('Cafe\u0301'), 'Caf\u00e9');
    assert.equal(await sent('💸'.repeat(140)), '💸'.repeat(140));
    // 280 code points as sent, 140 in NFC.
    assert.equal(await sent('e\u0301'.repeat(140)), '\u00e9'.repeat(140));
    for (const description of ['x'.repeat(141), '💸'.repeat(141)]) {
      const refused = answered(
        await bank.send({ from: payer, to: receiver, raw: LEAST, description }),
        400,
        'invalid_field',
      );
      assert.deepEqual(
        [refused.details?.field, refused.details?.reason],
        ['description', 'too_long'],
      );
    }
  });

  it('POST /v1/transfers accepts ids in upper case, and shows them in lower case', async () => {
    const body = {
      ...transferBody({ from: payer, to: receiver, raw: LEAST }),
      source_account: payer.id.toUpperCase(),
    };
    const answer = answered(await bank.request('POST', '/v1/transfers', { body }), 201);
    assert.equal(answer.json.source_account, payer.id);
  });

  it('POST /v1/transfers counts the last value of a field given twice in an object', async () => {
    const body = JSON.stringify(transferBody({ from: payer, to: receiver, raw: LEAST })).replace(
      '"raw":',
      '"raw":"999999","raw":',
    );
    const answer = answered(await bank.request('POST', '/v1/transfers', { body }), 201);
    assert.deepEqual(answer.json.amount, { raw: LEAST.toString(), asset: 'COPM' });
  });

  it('POST /v1/transfers pays to another tenant of the network, still as internal; the transfer belongs to the sender', async () => {
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

  it('POST /v1/transfers pays to an account that is frozen or unverified', async () => {
    await setStatus(db, receiver, 'frozen');
    const unverified = await bank.account({ isVerified: false, type: 'person' });
    for (const to of [receiver, unverified]) {
      await bank.sent({ from: payer, to, raw: LEAST });
      assert.equal(await bank.available(to), LEAST);
    }
  });

  it('POST /v1/transfers writes one transfer.completed into the log, whose object is the transfer', async () => {
    const own = await openBank(api);
    const from = await own.account({ funds: { COPM: LEAST } });
    const transfer = await own.sent({ from, to: await own.account(), raw: LEAST });
    const [event, ...others] = list((await own.get('/v1/events')).json.items);
    assert.deepEqual([event?.type, others], ['transfer.completed', []]);
    assert.deepEqual(object(event?.data).object, transfer);
  });
});
