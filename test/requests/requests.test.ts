import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { grantRole } from '../../src/members/roles.js';
import { newId, type Uuid } from '../../src/core/ids.js';
import { instant, systemClock } from '../../src/core/instant.js';
import { REQUESTS_KEPT_DAYS, readRequest, removeOldRequests } from '../../src/requests/log.js';
import { startTestApi, type TestAnswer } from '../helpers/api.js';
import {
  answered,
  idLiteral,
  type Json,
  LEAST,
  list,
  openBank,
  text,
  transferBody,
} from '../helpers/bank.js';
import { testDatabase } from '../helpers/database.js';
import { TEST_ACTOR } from '../helpers/world.js';
import { payoutBody } from '../payouts/support.js';

const DAY_MS = 86_400_000;

const db = await testDatabase();
const api = await startTestApi(db);
const bank = await openBank(api);
const payer = await bank.account({ funds: { COPM: 1_000n * LEAST } });
const ana = await bank.account();

describe('GET /v1/requests/{request_id}', () => {
  const idOf = ({ headers }: TestAnswer): string => text(headers.get('svc-request-id'));
  const ask = (id: string, token = bank.token): Promise<TestAnswer> =>
    bank.request('GET', `/v1/requests/${id}`, { token });
  /** Resolves once the entry is written. */
  const told = async (answer: TestAnswer, token = bank.token): Promise<Json> => {
    for (let tries = 0; ; tries += 1) {
      const found = await ask(idOf(answer), token);
      if (found.status === 200 || tries === 40) {
        const { id, created_at: at, ...rest } = answered(found, 200).json;
        assert.equal(id, idOf(answer));
        assert(Math.abs(Date.parse(text(at)) - Date.now()) < 20_000);
        return rest;
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  const post = (path: string, body: unknown, options = {}): Promise<TestAnswer> =>
    bank.request('POST', path, { body, ...options });
  const transfer = (raw = LEAST): Json => transferBody({ from: payer, to: ana, raw });
  const stored = async (): Promise<number> => (await db.sql('SELECT id FROM requests')).length;

  it('shows at once a request that created a transfer, bonus or payout, without a row of its own', async () => {
    const bonus = {
      source_account: payer.id,
      recipient: { account_id: ana.id },
      amount: transfer().amount,
    };
    const before = await stored();
    for (const [path, type, body] of [
      ['/v1/transfers', 'transfer', transfer()],
      ['/v1/bonuses', 'bonus', bonus],
      ['/v1/payouts', 'payout', payoutBody({ from: payer })],
    ] as const) {
      const answer = answered(await post(path, body), 201);
      const { created_at: _, ...found } = answered(await ask(idOf(answer)), 200).json;
      const resource = { type, id: answer.json.id };
      assert.deepEqual(found, {
        id: idOf(answer),
        method: 'POST',
        path,
        status: 201,
        code: null,
        resource,
      });
    }
    await new Promise((resolve) => setTimeout(resolve, 500));
    assert.equal(await stored(), before);
  });

  it('shows a refusal with its code, and a replay with what the key had created', async () => {
    const path = '/v1/transfers';
    const shows = async (answer: TestAnswer, resource: Json | null): Promise<void> =>
      assert.deepEqual(await told(answer), {
        ...{ method: 'POST', path, status: answer.status, code: answer.code ?? null, resource },
      });
    const key = randomUUID();
    const first = answered(await post(path, transfer(), { key }), 201);
    for (const [body, options, status, code] of [
      [transfer(10n ** 9n), {}, 422, 'insufficient_funds'],
      [{}, {}, 400, 'missing_field'],
      [transfer(LEAST + 1n), { key }, 409, 'idempotency_key_reused'],
    ] as const)
      await shows(answered(await post(path, body, options), status, code), null);
    const again = answered(await post(path, transfer(), { key }), 200);
    await shows(again, { type: 'transfer', id: first.json.id });
  });

  it('shows actions on a resource by their path, which contains only ids', async () => {
    const { id } = answered(await post('/v1/transfers', transfer()), 201).json;
    const act = answered(
      await bank.request('POST', `/v1/transfers/${text(id)}/approve`),
      403,
      'authority_insufficient',
    );
    const path = `/v1/transfers/${text(id)}/approve`;
    const refused = { status: 403, code: 'authority_insufficient', resource: null };
    assert.deepEqual(await told(act), { method: 'POST', path, ...refused });
    const strange = await bank.request('POST', '/v1/transfers/a-name-and-a-phone/approve');
    assert.equal(
      (await told(answered(strange, 404, 'not_found'))).path,
      '/v1/transfers/{id}/approve',
    );
    const alias = await bank.request('PUT', `/v1/accounts/${ana.id}/alias`, {
      body: { alias: '$told' },
    });
    assert.equal((await told(answered(alias, 200))).method, 'PUT');
  });

  it('is 404 for reads, unknown paths and unknown ids', async () => {
    const read = await bank.get('/v1/transfers');
    const unknown = await bank.request('POST', '/v1/nothing');
    await new Promise((resolve) => setTimeout(resolve, 500));
    const missing = answered(await ask(randomUUID()), 404, 'not_found').text;
    for (const id of [idOf(read), idOf(unknown), newId(), 'x', '', `${randomUUID()}x`])
      assert.equal((await ask(id)).status, 404, id);
    assert.equal((await ask(idOf(read))).text, missing);
  });

  it('shows a request only to its own member and tenant, by a token with a scope that it required', async () => {
    const made = answered(await post('/v1/transfers', transfer()), 201);
    const refused = answered(
      await post('/v1/transfers', transfer(10n ** 9n)),
      422,
      'insufficient_funds',
    );
    await told(refused);
    const missing = answered(await ask(randomUUID()), 404, 'not_found').text;
    const { owner } = bank.tenant;
    const colleague = await bank.member();
    await grantRole(db.database, systemClock, colleague, payer.id, 'owner', TEST_ACTOR);
    const tokens = [
      (await openBank(api)).token,
      await bank.issue(colleague),
      await bank.issue(owner, ['read', 'lookup', 'bonuses', 'payouts', 'webhooks']),
    ];
    for (const token of tokens)
      for (const answer of [made, refused])
        assert.equal(answered(await ask(idOf(answer), token), 404, 'not_found').text, missing);
    for (const answer of [made, refused])
      answered(await ask(idOf(answer), await bank.issue(owner, ['transfers'])), 200);
  });

  it('is 404 after 30 days, and the sweeper removes the row', async () => {
    const made = answered(await post('/v1/transfers', transfer()), 201);
    const refused = answered(await post('/v1/transfers', {}), 400, 'missing_field');
    await told(refused);
    const { tenant, owner } = bank.tenant;
    const caller = {
      tenantId: tenant.id,
      memberId: owner.id,
      tokenKeyId: 'x',
      scopes: ['transfers'] as const,
    };
    const at = (days: number): Promise<unknown> =>
      readRequest(
        db.database.reader,
        caller,
        idOf(made) as Uuid,
        instant(systemClock() + days * DAY_MS),
      );
    await at(REQUESTS_KEPT_DAYS - 1);
    await assert.rejects(() => at(REQUESTS_KEPT_DAYS + 1), { name: 'ApiError' });
    assert.equal(await removeOldRequests(db.database, instant(systemClock() - DAY_MS)), false);
    await told(refused);
    assert.equal(await removeOldRequests(db.database, instant(systemClock() + DAY_MS)), false);
    assert.equal(await stored(), 0);
    answered(await ask(idOf(refused)), 404, 'not_found');
    answered(await ask(idOf(made)), 200);
  });

  it('names a resource by the id that the lists show', async () => {
    const key = randomUUID();
    const made = answered(await post('/v1/transfers', transfer(), { key }), 201);
    const again = answered(await post('/v1/transfers', transfer(), { key }), 200);
    await told(again);
    const found = async (query: string): Promise<unknown[]> =>
      list(answered(await bank.get(`/v1/transfers?${query}`), 200).json.items).map(({ id }) => id);
    for (const id of [idOf(made), idOf(again)])
      for (const more of ['', `&idempotency_key=${key}`, `&destination_account=${ana.id}`])
        assert.deepEqual(await found(`request_id=${id}${more}`), [made.json.id]);
    for (const query of [
      `request_id=${randomUUID()}`,
      `request_id=${idOf(made)}&idempotency_key=${randomUUID()}`,
      `request_id=${idOf(made)}&destination_account=${payer.id}`,
      `request_id=${idOf(made)}&status=expired`,
    ])
      assert.deepEqual(await found(query), []);
    const stranger = await openBank(api);
    const { json } = answered(await stranger.get(`/v1/transfers?request_id=${idOf(made)}`), 200);
    assert.deepEqual(json, { items: [], next_cursor: null });
    answered(await bank.get('/v1/bonuses?request_id=x'), 400, 'invalid_field');
    assert.deepEqual(
      answered(await bank.get(`/v1/bonuses?request_id=${idOf(made)}`), 200).json.items,
      [],
    );
    assert.equal(
      (await db.sql(`SELECT id FROM requests WHERE id=${idLiteral(idOf(made))}`)).length,
      0,
    );
  });
});
