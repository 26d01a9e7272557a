import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { MoneyClient } from '../../packages/client/src/index.js';
import { DOCUMENT_NUMBERS } from '../../src/accounts/verification.js';
import { ApiError } from '../../src/core/errors.js';
import type { SecretKey } from '../../src/core/fingerprint.js';
import { newId } from '../../src/core/ids.js';
import { instant } from '../../src/core/instant.js';
import { webhookDeliveries, webhookEndpoints } from '../../src/db/entities/webhooks.js';
import { insertSql, updateSql } from '../../src/db/statements.js';
import { removeOldEvents, setRetention } from '../../src/events/retention.js';
import { audit } from '../../src/auditor/audit.js';
import { WEBHOOK_SECRETS } from '../../src/webhooks/secrets.js';
import { removeOldAttempts } from '../../src/webhooks/sweeps.js';
import { startTestApi, type TestApi } from '../support/api.js';
import { answered, idLiteral, list, openBank, text, withQuery } from '../support/bank.js';
import { ownDatabase, type TestDatabase } from '../support/database.js';
import { FakeReceiver, Gate } from '../support/receiver.js';
import { TEST_ACTOR } from '../support/world.js';
import {
  deliveriesOf,
  dispatched,
  emit,
  endpointOf,
  eventIds,
  type Hooked,
  hooked,
  isDue,
  isSigned,
  makeAllMissedDue,
  partsOf,
  statesOf,
  TestClock,
  until,
} from './support.js';

const DAY = 86_400_000;

describe('webhooks', () => {
  let db: TestDatabase;
  let api: TestApi;
  let receiver: FakeReceiver;
  const clock = new TestClock();

  before(async () => {
    db = await ownDatabase('sweeping');
    receiver = new FakeReceiver();
    api = await startTestApi(db, {}, { receiver, clock: clock.now });
  });
  beforeEach(() => {
    receiver.reply = () => 200;
  });
  after(async () => {
    await db.remove();
  });

  const run = (id: Hooked['id']) => dispatched(partsOf(api, receiver), id);
  const due = (own: Hooked): Promise<boolean> => isDue(api, own, clock.now());
  const path = ({ id }: Hooked): string => `/v1/webhook_endpoints/${id}`;

  describe('that are due', () => {
    it('endpoints are due if they have an event of their types ahead and no live run, and no others', async () => {
      const [own, other] = [await hooked(api), await hooked(api, ['payout.failed'])];
      assert.deepEqual([await due(own), await due(other)], [false, false]);
      await emit(api, own, 1);
      await emit(api, other, 1);
      assert.deepEqual([await due(own), await due(other)], [true, false]);
      const gate = new Gate();
      receiver.reply = () => gate.reply();
      const stop = new AbortController();
      const running = dispatched(partsOf(api, receiver), own.id, stop.signal);
      await until('it is at work', () => receiver.at(own.url).length === 1);
      assert.equal(await due(own), false);
      // A run that has died leaves its claim behind: when that expires, the endpoint is due.
      await db.change(`UPDATE webhook_endpoints SET fence=fence+1 WHERE id=${idLiteral(own.id)}`);
      clock.pass(16_000);
      assert.equal(await due(own), true);
      gate.open(200);
      assert.equal((await running).ended, 'taken_over');
      receiver.reply = () => 200;
      await run(own.id);
      assert.equal(await due(own), false);
    });

    it('endpoints are no longer due once their cursors were moved past unwanted events', async () => {
      const own = await hooked(api, ['payout.failed']);
      await emit(api, own, 1_500);
      assert.equal((await endpointOf(api, own.id)).cursorSequence, 0n);
      await makeAllMissedDue(api, clock.now());
      assert.equal((await endpointOf(api, own.id)).cursorSequence, 1_500n);
      await emit(api, own, 1, 'payout.failed');
      await emit(api, own, 5);
      await makeAllMissedDue(api, clock.now());
      assert.equal((await endpointOf(api, own.id)).cursorSequence, 1_500n);
      assert.equal((await run(own.id)).attempts, 1);
    });
  });

  describe('that were missed', () => {
    it('endpoints that were missed are made due though their retry is due only later, and at their probe if they are probed', async () => {
      const [own, probed] = [await hooked(api), await hooked(api)];
      const [probeAt, later] = [instant(clock.now() + 60_000), instant(clock.now() + DAY)];
      await db.change(updateSql(webhookEndpoints, { nextDueAt: later }, { id: own.id }));
      await db.change(
        updateSql(webhookEndpoints, { nextDueAt: later, probeAt }, { id: probed.id }),
      );
      const dueAt = async ({ id }: Hooked): Promise<number | null> =>
        (await endpointOf(api, id)).nextDueAt;
      await makeAllMissedDue(api, clock.now());
      assert.deepEqual([await dueAt(own), await dueAt(probed)], [later, later]);
      await emit(api, own, 1);
      await emit(api, probed, 1);
      await makeAllMissedDue(api, clock.now());
      assert.equal(await dueAt(probed), probeAt);
      const at = await dueAt(own);
      assert(at !== null && at <= clock.now());
      await makeAllMissedDue(api, instant(clock.now() + 1_000));
      assert.deepEqual([await dueAt(own), await dueAt(probed)], [at, probeAt]);
      assert.equal((await run(own.id)).attempts, 1);
    });
  });

  describe('redeliver', () => {
    const redeliver = (own: Hooked, id: string) =>
      own.bank.request('POST', `/v1/events/${id}/redeliver`);

    it('redelivering sends the one event again to each endpoint that has had it, with the same id and bytes', async () => {
      const own = await hooked(api);
      const second = await hooked(api, ['account.verified', 'payout.failed'], own.bank);
      const other = await hooked(api, ['payout.failed'], own.bank);
      await emit(api, own, 3);
      await run(own.id);
      await run(second.id);
      const [id] = await eventIds(api, own.account.tenantId);
      const event = answered(await own.bank.get(`/v1/events/${id}`), 200).json;
      assert.deepEqual(answered(await redeliver(own, id!), 200).json, event);
      assert.deepEqual(await Promise.all([own, second, other].map(due)), [true, true, false]);
      for (const one of [own, second, other]) await run(one.id);
      for (const one of [own, second]) {
        const got = receiver.at(one.url).filter((request) => request.id === id);
        assert.deepEqual([got.length, new Set(got.map(({ body }) => body)).size], [2, 1]);
        assert(isSigned(one, got[1]!.headers, got[1]!.body));
      }
      assert.equal(receiver.at(other.url).length, 0);
      // A later one is a delivery of its own; one that still waits is not doubled.
      for (let times = 0; times < 3; times += 1) answered(await redeliver(own, id!), 200);
      await run(own.id);
      const rounds = (await deliveriesOf(api, own.id)).filter(({ cause }) => cause === 'redeliver');
      assert.deepEqual(
        rounds.map(({ round }) => round),
        [1, 2],
      );
    });

    it('redelivering leaves to the cursor what it will still deliver, and skips disabled endpoints', async () => {
      const own = await hooked(api);
      const off = await hooked(api, ['account.verified'], own.bank);
      answered(await own.bank.request('PATCH', path(off), { body: { status: 'disabled' } }), 200);
      await emit(api, own, 1);
      const [id] = await eventIds(api, own.account.tenantId);
      answered(await redeliver(own, id!), 200);
      assert.deepEqual(
        [await deliveriesOf(api, own.id), await deliveriesOf(api, off.id)],
        [[], []],
      );
      assert.equal((await run(own.id)).attempts, 1);
    });
  });

  it('attempts and deliveries of webhooks are kept for thirty days, those of a disabled endpoint too where enabling it would not look at them', async () => {
    const [own, off] = [await hooked(api), await hooked(api)];
    await emit(api, own, 3);
    await run(own.id);
    const old = instant(clock.now() - 31 * DAY);
    const oldId = (): ReturnType<typeof newId> => {
      const hex = old.toString(16).padStart(12, '0');
      return `${hex.slice(0, 8)}-${hex.slice(8)}${newId().slice(13)}` as ReturnType<typeof newId>;
    };
    const [like] = await deliveriesOf(api, own.id);
    const row = (endpointId: Hooked['id'], isFailed: boolean) => ({
      ...like!,
      endpointId,
      id: oldId(),
      eventId: newId(),
      state: isFailed ? ('failed' as const) : ('delivered' as const),
      createdAt: old,
      finishedAt: old,
    });
    await db.change(
      insertSql(webhookDeliveries, [
        row(own.id, true),
        row(own.id, false),
        row(off.id, true),
        row(off.id, false),
      ]),
    );
    const kept = (await deliveriesOf(api, own.id)).find(({ createdAt }) => createdAt === old)!;
    await db.change(
      `INSERT INTO webhook_attempts SELECT endpoint_id, ${idLiteral(kept.id)}, id, '2020-01-01', status, failure, message, duration_ms, response
       FROM webhook_attempts WHERE endpoint_id=${idLiteral(own.id)} LIMIT 1`,
    );
    answered(await off.bank.request('PATCH', path(off), { body: { status: 'disabled' } }), 200);
    const seen: string[] = [];
    for (let after: Hooked['id'] | null = null; ;) {
      const done = await removeOldAttempts(api.core.database, clock.now(), after);
      if (done === null) break;
      assert(done.isDone);
      seen.push((after = done.at));
    }
    assert(seen.includes(own.id) && seen.includes(off.id));
    assert.deepEqual(await statesOf(api, own.id), { delivered: 3 });
    assert.deepEqual(await statesOf(api, off.id), {});
    assert.equal(
      (await db.sql(`SELECT 1 FROM webhook_attempts WHERE endpoint_id=${idLiteral(own.id)}`))
        .length,
      3,
    );
  });

  it('secrets of webhooks are resealed under the first key, and sign as before; a missing key is reported', async () => {
    const own = await hooked(api);
    answered(await own.bank.request('POST', `${path(own)}/rotate_secret`), 200);
    const old: SecretKey = { id: 'test', secret: Buffer.alloc(32, 7) };
    const next: SecretKey = { id: 'next', secret: randomBytes(32) };
    const deps = { database: api.core.database, clock: clock.now, onProgress: () => undefined };
    await assert.rejects(
      WEBHOOK_SECRETS.assertKeys(api.core.database.reader, [next]),
      (failure) => failure instanceof ApiError && /lacks: test$/.test(failure.refusal.message),
    );
    const sealed = (await WEBHOOK_SECRETS.countByKey(api.core.database.reader)).get('test');
    assert(
      (await WEBHOOK_SECRETS.rotate({ ...deps, encryptionKeys: [next, old] }, TEST_ACTOR)) > 0,
    );
    assert.deepEqual(
      [...(await WEBHOOK_SECRETS.countByKey(api.core.database.reader))],
      [['next', sealed]],
    );
    await emit(api, own, 1);
    await dispatched(partsOf(api, receiver, { encryptionKeys: [next] }), own.id);
    const { headers, body } = receiver.at(own.url)[0]!;
    assert(isSigned(own, { 'Svc-Signature': headers['Svc-Signature-Previous']! }, body));
    await WEBHOOK_SECRETS.rotate({ ...deps, encryptionKeys: [old, next] }, TEST_ACTOR);
    assert.deepEqual([...(await DOCUMENT_NUMBERS.countByKey(api.core.database.reader))], []);
  });

  describe('retention', () => {
    const remove = async (): Promise<number> => {
      let removed = 0;
      for (let after: Hooked['id'] | null = null; ;) {
        const done = await removeOldEvents(api.core.database, clock.now(), after);
        if (done === null) return removed;
        removed += done.removed;
        if (done.isDone) after = done.at;
      }
    };

    it('retention of events is forever unless an operator sets it, to at least thirty days', async () => {
      const own = await hooked(api);
      await emit(api, own, 2);
      clock.pass(1_000 * DAY);
      assert.equal(await remove(), 0);
      await assert.rejects(
        setRetention(api.core.database, clock.now, 29, TEST_ACTOR),
        (failure) => failure instanceof ApiError && failure.refusal.code === 'invalid_field',
      );
    });

    it('retention of events removes only the oldest: lists begin later, an earlier cursor has expired, and an endpoint left behind continues', async () => {
      const bank = await openBank(api);
      const account = await bank.account();
      const behind = await hooked(api, ['account.verified'], bank);
      await emit(api, { account }, 700);
      const cursor = async (query: string): Promise<string> =>
        text(answered(await bank.get(`/v1/events?${query}`), 200).json.next_cursor);
      const upward = await cursor('order=asc&limit=5');
      clock.pass(31 * DAY);
      await emit(api, { account }, 3);
      const downward = await cursor('limit=2');
      await setRetention(api.core.database, clock.now, 30, TEST_ACTOR);
      assert((await remove()) >= 700);
      assert.equal(await remove(), 0);
      await setRetention(api.core.database, clock.now, null, TEST_ACTOR);
      const page = answered(await bank.get('/v1/events'), 200).json;
      assert.deepEqual(
        [list(page.items).map(({ sequence }) => sequence), page.first_sequence],
        [[703, 702, 701], 701],
      );
      const expired = answered(
        await bank.get(withQuery('/v1/events?order=asc', `cursor=${upward}`)),
        400,
        'invalid_field',
      );
      assert.deepEqual([expired.details?.field, expired.details?.reason], ['cursor', 'expired']);
      const rest = answered(await bank.get(`/v1/events?cursor=${downward}`), 200).json;
      assert.deepEqual(
        list(rest.items).map(({ sequence }) => sequence),
        [701],
      );
      await run(behind.id);
      assert.equal(receiver.at(behind.url).length, 3);
      assert.deepEqual(answered(await bank.get(path(behind)), 200).json.lost_events, {
        from: 1,
        to: 700,
      });
      const found = (await audit(api.core.database, { tenantId: account.tenantId })).findings;
      assert.deepEqual(
        found.filter(({ check }) => check.startsWith('event')),
        [],
      );
    });

    it('retention of events expires cursors and positions behind which something is missing, and no other: of a rare type, a time to come, an idle log', async () => {
      const bank = await openBank(api);
      const account = await bank.account();
      const client = new MoneyClient({ baseUrl: api.baseUrl, token: bank.token });
      const queries = [
        'order=asc',
        'order=asc&type=payout.failed',
        'order=asc&created_at[gte]=9999-01-01T00:00:00Z',
      ];
      const read = async (
        query: string,
        cursor = '',
      ): Promise<{ cursor: string; sequences: unknown[] }> => {
        const path = `/v1/events?${query}`;
        const answer = await bank.get(cursor === '' ? path : withQuery(path, `cursor=${cursor}`));
        const { items, next_cursor: next } = answered(answer, 200).json;
        return { cursor: text(next), sequences: list(items).map(({ sequence }) => sequence) };
      };
      await emit(api, { account }, 3);
      const following = client.followEvents({ pollMs: 1 });
      const { value: first } = await following.next();
      const head = await client.headOfEvents();
      await emit(api, { account }, 1);
      for (let more = 2; more > 0; more -= 1) await following.next();
      const { value: last } = await following.next();
      const [, followed, awaited] = await Promise.all(queries.map((query) => read(query)));
      clock.pass(31 * DAY);
      await setRetention(api.core.database, clock.now, 30, TEST_ACTOR);
      assert((await remove()) >= 4);
      await setRetention(api.core.database, clock.now, null, TEST_ACTOR);

      assert.deepEqual((await read(queries[1]!, followed!.cursor)).sequences, []);
      assert.deepEqual((await read(queries[2]!, awaited!.cursor)).sequences, []);
      for (const query of queries)
        assert.deepEqual((await read(query, (await read(query)).cursor)).sequences, []);
      const begun = await Promise.all(queries.slice(0, 2).map((query) => read(query)));
      await emit(api, { account }, 2);
      await emit(api, { account }, 1, 'payout.failed');
      assert.deepEqual((await read(queries[0]!, begun[0]!.cursor)).sequences, [5, 6, 7]);
      for (const { cursor } of [begun[1]!, followed!])
        assert.deepEqual((await read(queries[1]!, cursor)).sequences, [7]);
      assert(first !== undefined && last !== undefined);
      for (const from of [first.position, head])
        await assert.rejects(client.followEvents({ from }).next(), { code: 'invalid_field' });
      const resumed = await client.followEvents({ from: last.position }).next();
      assert.deepEqual([last.event.sequence, resumed.value?.event.sequence], [4, 5]);
    });

    it('retention of events ends a delivery whose event is gone, without an attempt, and shows it as lost', async () => {
      const own = await hooked(api);
      await emit(api, own, 1);
      await run(own.id);
      await emit(api, own, 3);
      receiver.reply = () => 500;
      await run(own.id);
      answered(await own.bank.request('PATCH', path(own), { body: { status: 'disabled' } }), 200);
      clock.pass(31 * DAY);
      await setRetention(api.core.database, clock.now, 30, TEST_ACTOR);
      await remove();
      await setRetention(api.core.database, clock.now, null, TEST_ACTOR);
      answered(await own.bank.request('PATCH', path(own), { body: { status: 'enabled' } }), 200);
      assert.equal((await run(own.id)).attempts, 0);
      assert.deepEqual(await statesOf(api, own.id), { delivered: 1, ended: 3 });
      assert.deepEqual(answered(await own.bank.get(path(own)), 200).json.lost_events, {
        from: 2,
        to: 4,
      });
    });
  });
});
