import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { addMember } from '../../src/members/members.js';
import { asUuid, newId } from '../../src/core/ids.js';
import { systemClock } from '../../src/core/instant.js';
import { SUBSCRIBABLE_TYPES } from '../../src/db/entities/events.js';
import {
  webhookAttempts,
  webhookDeliveries,
  type WebhookDelivery,
} from '../../src/db/entities/webhooks.js';
import { insertSql } from '../../src/db/statements.js';
import { attemptRow } from '../../src/webhooks/sender.js';
import { newDelivery } from '../../src/webhooks/event-reader.js';
import { readDeliveries } from '../../src/webhooks/endpoints.js';
import { startTestApi, type TestAnswer } from '../helpers/api.js';
import {
  answered,
  type Bank,
  type Json,
  list,
  object,
  openBank,
  text,
  walk,
} from '../helpers/bank.js';
import { testDatabase } from '../helpers/database.js';
import { FakeReceiver, Gate, sign } from '../helpers/receiver.js';
import { until } from '../helpers/temporal.js';
import { TEST_ACTOR } from '../helpers/world.js';
import { newUrl, register } from './support.js';

const PATH = '/v1/webhook_endpoints';
const TYPES: readonly string[] = SUBSCRIBABLE_TYPES;

const db = await testDatabase();
const receiver = new FakeReceiver();
const api = await startTestApi(db, {}, { receiver });

describe('webhook endpoints', () => {
  let bank: Bank;

  beforeEach(async () => {
    receiver.reply = () => 200;
    bank = await openBank(api);
    await bank.account();
  });

  const post = (body: unknown, key?: string | null): Promise<TestAnswer> =>
    bank.request('POST', PATH, { body, ...(key === undefined ? {} : { key }) });
  const good = (): { url: string; events: string[] } => ({
    url: newUrl(),
    events: ['transfer.completed'],
  });

  it('show their settings, and the secret only once', async () => {
    const body = {
      url: newUrl(),
      events: ['payout.failed', 'transfer.completed', 'payout.failed'],
    };
    const { secret, id, created_at: createdAt, ...others } = answered(await post(body), 201).json;
    assert.match(text(secret), /^whsec_/);
    const shown = {
      url: body.url,
      events: ['transfer.completed', 'payout.failed'],
      status: 'enabled',
      disabled_reason: null,
      api_version: '2026-11-01',
      last_success_at: null,
      lost_events: null,
    };
    assert.deepEqual(others, shown);
    const read = answered(await bank.get(`${PATH}/${text(id)}`), 200).json;
    assert.deepEqual(read, { id, created_at: createdAt, ...shown });
    assert.deepEqual(await walk(bank, `${PATH}?limit=1`), [read]);
  });

  it('accept the seven types that are offered, and no other', async () => {
    assert.deepEqual(
      answered(await post({ url: newUrl(), events: TYPES }), 201).json.events,
      TYPES,
    );
    for (const events of [
      [],
      ['transfer.rejected'],
      ['webhook.test'],
      'transfer.completed',
      [''],
    ]) {
      const answer = answered(await post({ url: newUrl(), events }), 400, 'invalid_field');
      assert.match(String(answer.details?.field), /^events/);
    }
    const listed = answered(
      await post({ url: newUrl(), events: ['transfer.completed', null] }),
      400,
      'invalid_field',
    );
    assert.match(JSON.stringify(listed.details), /"field":"events.1","reason":"not_one_of: /);
    answered(await post({ url: newUrl() }), 400, 'missing_field');
    answered(await post({ events: TYPES }), 400, 'missing_field');
    answered(await post({ ...good(), colour: 'red' }), 400, 'invalid_field');
    answered(await post(good(), null), 400, 'missing_idempotency_key');
  });

  it('are neither registered at nor moved to a forbidden address; the reason is given', async () => {
    const { id, url } = answered(await post(good()), 201).json;
    for (const [wrong, reason] of [
      ['http://example.com/hook', 'https_only'],
      ['no url', 'malformed'],
      ['https://nowhere.invalid/', 'unresolvable'],
    ] as const)
      for (const answer of [
        await post({ ...good(), url: wrong }),
        await bank.request('PATCH', `${PATH}/${text(id)}`, { body: { url: wrong } }),
      ]) {
        answered(answer, 400, 'invalid_field');
        assert.deepEqual([answer.details?.field, answer.details?.reason], ['url', reason]);
      }
    assert.equal((await bank.get(`${PATH}/${text(id)}`)).json.url, url);
  });

  it('the host of a webhook endpoint is looked up only for a member who may register or change the endpoint', async () => {
    const token = await bank.issue(
      await addMember(db.database, systemClock, bank.tenant.tenant.id, 'no manager', TEST_ACTOR),
    );
    const stranger = await openBank(api);
    await stranger.account();
    const { id } = answered(await post(good()), 201).json;
    const [path, body] = [`${PATH}/${text(id)}`, { url: newUrl() }];
    receiver.resolved.length = 0;
    for (const [answer, status, code] of [
      [await bank.request('POST', PATH, { body: good(), token }), 403, 'authority_insufficient'],
      [await bank.request('PATCH', path, { body, token }), 403, 'authority_insufficient'],
      [await bank.request('PATCH', `${PATH}/${randomUUID()}`, { body }), 404, 'not_found'],
      [await stranger.request('PATCH', path, { body }), 404, 'not_found'],
    ] as const)
      answered(answer, status, code);
    assert.deepEqual(receiver.resolved, []);
    answered(await bank.request('PATCH', path, { body }), 200);
    assert.equal(receiver.resolved.length, 1);
  });

  it('are sixteen at most; the refusal binds its key, a deleted one makes room', async () => {
    const ids = await Promise.all(Array.from({ length: 20 }, () => post(good())));
    assert.deepEqual(ids.map(({ status }) => status).sort(), [
      ...Array(16).fill(201),
      ...Array(4).fill(422),
    ]);
    const [key, body] = [randomUUID(), good()];
    answered(await post(body, key), 422, 'too_many_endpoints');
    const made = ids.find(({ status }) => status === 201)!;
    answered(await bank.request('DELETE', `${PATH}/${text(made.json.id)}`), 204);
    const again = answered(await post(body, key), 422, 'too_many_endpoints');
    assert.equal(again.headers.get('svc-idempotent-replayed'), 'true');
    answered(await post(good()), 201);
  });

  describe('by one key', () => {
    it('registering a webhook endpoint repeatedly with one key creates one endpoint; the replay shows it without its secret', async () => {
      const [key, body] = [randomUUID(), good()];
      const { secret: _, ...first } = answered(await post(body, key), 201).json;
      const path = `${PATH}/${text(first.id)}`;
      const change = { url: newUrl(), events: ['payout.failed'], status: 'disabled' };
      answered(await bank.request('PATCH', path, { body: change }), 200);
      receiver.refused.set(new URL(body.url).hostname, 'unresolvable');
      const replay = answered(await post(body, key.toUpperCase()), 200);
      assert.equal(replay.headers.get('svc-idempotent-replayed'), 'true');
      assert.deepEqual(replay.json, { ...first, ...change, disabled_reason: 'by_tenant' });
      answered(
        await post({ ...body, events: ['payout.failed'] }, key),
        409,
        'idempotency_key_reused',
      );
      receiver.refused.delete(new URL(body.url).hostname);
      answered(
        await post({ ...body, events: ['payout.failed'] }, key),
        409,
        'idempotency_key_reused',
      );
      answered(await bank.request('DELETE', path), 204);
      const again = answered(await post(body, key), 200);
      assert.deepEqual(again.json, first);
      assert.equal(again.headers.get('svc-idempotent-replayed'), 'true');
      assert.deepEqual(await walk(bank, PATH), []);
      answered(await bank.get(path), 404, 'not_found');
    });

    it('a hundred simultaneous registrations of a webhook endpoint by one key create one: one sees the secret, the others a replay', async () => {
      const [key, body] = [randomUUID(), good()];
      const answers = await Promise.all(Array.from({ length: 100 }, () => post(body, key)));
      assert.deepEqual(answers.map(({ status }) => status).sort(), [...Array(99).fill(200), 201]);
      assert.equal(answers.filter(({ json }) => 'secret' in json).length, 1);
      assert.equal(new Set(answers.map(({ json }) => json.id)).size, 1);
    });
  });

  it('deleted webhook endpoints are no longer shown, and deleting one again is not an error', async () => {
    const { id } = await register(bank, ['account.verified']);
    const path = `${PATH}/${text(id)}`;
    for (let times = 0; times < 2; times += 1)
      assert.equal(answered(await bank.request('DELETE', path), 204).text, '');
    for (const [method, suffix, body] of [
      ['GET', ''],
      ['PATCH', '', {}],
      ['POST', '/rotate_secret'],
      ['POST', '/test'],
      ['GET', '/deliveries'],
      ['POST', '/recover', { since: new Date().toISOString() }],
    ] as const)
      answered(await bank.request(method, path + suffix, { body }), 404, 'not_found');
  });

  it('are changed by the fields of the body; absent fields stay', async () => {
    const {
      id,
      secret: _,
      ...before
    } = await register(bank, ['account.verified', 'payout.failed']);
    const patch = async (body: object) =>
      answered(await bank.request('PATCH', `${PATH}/${text(id)}`, { body }), 200).json;
    assert.deepEqual(await patch({}), { id, ...before });
    assert.deepEqual((await patch({ events: ['payout.failed', 'bonus_batch.ready'] })).events, [
      'payout.failed',
      'bonus_batch.ready',
    ]);
    assert.deepEqual((await patch({ status: 'disabled' })).disabled_reason, 'by_tenant');
    const { status, disabled_reason: reason } = await patch({
      status: 'enabled',
      url: 'https://other.example/x',
    });
    assert.deepEqual([status, reason], ['enabled', null]);
    for (const body of [
      { status: 'deleted' },
      { events: [] },
      { events: [null] },
      { secret: 'whsec_x' },
      { url: '' },
    ])
      answered(await bank.request('PATCH', `${PATH}/${text(id)}`, { body }), 400, 'invalid_field');
    const acts = await db.sql(
      `SELECT details FROM audit_log WHERE subject_id='${text(id)}' AND action='webhook.change' ORDER BY id`,
    );
    assert.deepEqual(
      acts.map(({ details }) => object(JSON.parse(String(details))).changed),
      ['events', 'disabled', 'url,enabled'],
    );
  });

  describe('that are tested', () => {
    it('that are tested get a signed body at once, even if disabled; the result is among the deliveries', async () => {
      const { id, url, secret } = await register(bank, ['account.verified']);
      const path = `${PATH}/${text(id)}`;
      answered(await bank.request('PATCH', path, { body: { status: 'disabled' } }), 200);
      const test = answered(await bank.request('POST', `${path}/test`), 202).json;
      assert.deepEqual(Object.keys(test), ['type', 'id', 'created_at']);
      await api.webhooks.tests.settled();
      const [got] = receiver.at(text(url));
      assert.deepEqual(JSON.parse(got!.body), test);
      assert.equal(got!.id, test.id);
      assert.equal(got!.headers['Svc-Signature'], sign(text(secret), got!.body));
      const [delivery] = list((await bank.get(`${path}/deliveries`)).json.items);
      const { event_id: eventId, event_type: type, cause, status, attempts } = delivery!;
      assert.deepEqual(
        [eventId, type, cause, status],
        [test.id, 'webhook.test', 'test', 'delivered'],
      );
      assert.equal(list(attempts)[0]?.status, 200);
      assert.notEqual((await bank.get(path)).json.last_success_at, null);
      assert.deepEqual(await walk(bank, '/v1/events'), []);
    });

    it('a test of a webhook endpoint is sent once, and a failure is shown', async () => {
      const { id, url } = await register(bank, ['account.verified']);
      receiver.reply = () => 500;
      answered(await bank.request('POST', `${PATH}/${text(id)}/test`), 202);
      await api.webhooks.tests.settled();
      assert.equal(receiver.at(text(url)).length, 1);
      const [delivery] = list((await bank.get(`${PATH}/${text(id)}/deliveries`)).json.items);
      assert.deepEqual([delivery?.status, delivery?.next_attempt_at], ['failed', null]);
    });

    it('a test of a hanging webhook endpoint delays no other request, and a tenant may have at most eight tests in progress', async () => {
      const { id, url } = await register(bank, ['account.verified']);
      const gate = new Gate();
      receiver.reply = () => gate.reply();
      const ask = (): Promise<TestAnswer> => bank.request('POST', `${PATH}/${text(id)}/test`);
      for (let times = 0; times < 8; times += 1) answered(await ask(), 202);
      await until('eight', () => receiver.at(text(url)).length === 8);
      const limited = answered(await ask(), 429, 'rate_limited');
      assert.match(limited.headers.get('retry-after') ?? '', /^\d+$/);
      gate.open(200);
      await api.webhooks.tests.settled();
      answered(await ask(), 202);
      gate.open(200);
    });

    it('tests and redeliveries of webhooks have a separate rate for each token', async () => {
      const limited = await startTestApi(db, { RATE_LIMITS: 'redeliver=2' });
      const path = `/v1/events/${randomUUID()}/redeliver`;
      const ask = (): Promise<TestAnswer> => limited.request('POST', path, { token: bank.token });
      const answers = [await ask(), await ask(), await ask()];
      assert.deepEqual(
        answers.map(({ status }) => status),
        [404, 404, 429],
      );
      assert.equal(answers[0]!.headers.get('ratelimit-limit'), '2');
      answered(await limited.request('GET', '/v1/events', { token: bank.token }), 200);
      await limited.stop();
    });
  });

  it('show their deliveries in pages of at most 200 attempts, with any limit', async () => {
    const endpointId = asUuid(text(answered(await post(good()), 201).json.id));
    const at = systemClock();
    const made = Array.from({ length: 45 }, (_, index): WebhookDelivery => {
      const event = { id: newId(), type: 'transfer.completed', sequence: 1n };
      const steps = index === 44 ? 1 : 10;
      const over = { state: 'failed', steps, nextAttemptAt: null, finishedAt: at } as const;
      return { ...newDelivery(endpointId, event, 'event', 1, at), ...over };
    });
    const failed = {
      outcome: 'answered',
      status: 500,
      durationMs: 1,
      responseHead: 'no',
      retryAfterMs: null,
    } as const;
    const tried = made.flatMap(({ id, steps }) =>
      Array.from({ length: steps }, () => attemptRow(endpointId, id, at, failed)),
    );
    await db.database.withTransaction((transaction) =>
      transaction.all([insertSql(webhookDeliveries, made), insertSql(webhookAttempts, tried)]),
    );
    const pages: Json[][] = [];
    for (let cursor: unknown = ''; cursor !== null;) {
      const page = await bank.get(
        `${PATH}/${endpointId}/deliveries?limit=100${cursor === '' ? '' : `&cursor=${text(cursor)}`}`,
      );
      pages.push(list(answered(page, 200).json.items));
      cursor = page.json.next_cursor;
    }
    assert.deepEqual(
      pages.map(({ length }) => length),
      [20, 20, 5],
    );
    const shown = pages.flat();
    assert.deepEqual(
      shown.map(({ id }) => id),
      made.map(({ id }) => id).reverse(),
    );
    assert.equal(shown.flatMap(({ attempts }) => list(attempts)).length, tried.length);
    const { items } = await readDeliveries(db.database.reader, endpointId, null, 100);
    assert.equal(items.length, made.length, 'operators, who have no cursor, see all');
  });
});
