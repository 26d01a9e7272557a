import assert from 'node:assert/strict';
import { ApiError } from '../../src/core/errors.js';
import { newId, type Uuid } from '../../src/core/ids.js';
import { instant } from '../../src/core/instant.js';
import { webhookDeliveries, webhookEndpoints } from '../../src/db/entities/webhooks.js';
import { insertSql, updateSql } from '../../src/db/statements.js';
import { removeOldEvents, setRetention } from '../../src/events/retention.js';
import { audit } from '../../src/auditor/audit.js';
import { removeOldAttempts } from '../../src/webhooks/sweeps.js';
import { answered, idLiteral, list, openBank, text, withQuery } from '../helpers/bank.js';
import { TEST_ACTOR } from '../helpers/world.js';
import {
  deliveriesOf,
  emit,
  endpointOf,
  eventIds,
  type TestEndpoint,
  newEndpoint,
  isSigned,
  makeAllMissedDue,
  statesOf,
  webhookTests,
} from './support.js';

const DAY = 86_400_000;

const { clock, db, receiver, api, run, isDue, path } = await webhookTests('sweeping');

describe('webhooks', () => {
  describe('that were missed', () => {
    it('endpoints that were missed are made due though their retry is due only later, and at their probe if they are probed', async () => {
      const [own, probed] = [await newEndpoint(api), await newEndpoint(api)];
      const [probeAt, later] = [instant(clock.now() + 60_000), instant(clock.now() + DAY)];
      await db.change(updateSql(webhookEndpoints, { nextDueAt: later }, { id: own.id }));
      await db.change(
        updateSql(webhookEndpoints, { nextDueAt: later, probeAt }, { id: probed.id }),
      );
      const dueAt = async ({ id }: TestEndpoint): Promise<number | null> =>
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

  it('sweeps pass over endpoints that this release cannot read', async () => {
    const own = await Promise.all([newEndpoint(api), newEndpoint(api)]);
    for (const { id } of own) {
      await emit(api, { account: own.find((one) => one.id === id)!.account }, 1);
      await db.change(
        `UPDATE webhook_endpoints SET api_version='2099-01-01' WHERE id=${idLiteral(id)}`,
      );
    }
    await makeAllMissedDue(api, clock.now());
    assert.deepEqual(await Promise.all(own.map(isDue)), [true, true]);
    for (let after: Uuid | null = null; ;) {
      const piece = await removeOldAttempts(api.core.database, clock.now(), after);
      if (piece === null) break;
      after = piece.lastId;
    }
    for (const { id } of own)
      await db.change(
        `UPDATE webhook_endpoints SET api_version='2026-11-01' WHERE id=${idLiteral(id)}`,
      );
  });

  describe('redeliver', () => {
    const redeliver = (own: TestEndpoint, id: string) =>
      own.bank.request('POST', `/v1/events/${id}/redeliver`);

    it('redelivering sends one event again to each endpoint that has received it, with the same id and bytes', async () => {
      const own = await newEndpoint(api);
      const second = await newEndpoint(api, ['account.verified', 'payout.failed'], own.bank);
      const other = await newEndpoint(api, ['payout.failed'], own.bank);
      await emit(api, own, 3);
      await run(own.id);
      await run(second.id);
      const [id] = await eventIds(api, own.account.tenantId);
      const event = answered(await own.bank.get(`/v1/events/${id}`), 200).json;
      assert.deepEqual(answered(await redeliver(own, id!), 200).json, event);
      assert.deepEqual(await Promise.all([own, second, other].map(isDue)), [true, true, false]);
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

    it('redelivering skips disabled endpoints, and events that the cursor will still deliver', async () => {
      const own = await newEndpoint(api);
      const off = await newEndpoint(api, ['account.verified'], own.bank);
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

  it('attempts and deliveries of webhooks are kept for thirty days, also those of a disabled endpoint', async () => {
    const [own, off] = [await newEndpoint(api), await newEndpoint(api)];
    await emit(api, own, 3);
    await run(own.id);
    const old = instant(clock.now() - 31 * DAY);
    const oldId = (): ReturnType<typeof newId> => {
      const hex = old.toString(16).padStart(12, '0');
      return `${hex.slice(0, 8)}-${hex.slice(8)}${newId().slice(13)}` as ReturnType<typeof newId>;
    };
    const [like] = await deliveriesOf(api, own.id);
    const row = (endpointId: TestEndpoint['id'], isFailed: boolean) => ({
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
    for (let after: TestEndpoint['id'] | null = null; ;) {
      const done = await removeOldAttempts(api.core.database, clock.now(), after);
      if (done === null) break;
      assert(done.isPieceDone);
      seen.push((after = done.lastId));
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

  describe('retention', () => {
    const remove = async (): Promise<number> => {
      let removed = 0;
      for (let after: TestEndpoint['id'] | null = null; ;) {
        const done = await removeOldEvents(api.core.database, clock.now(), after);
        if (done === null) return removed;
        removed += done.removed;
        if (done.isPieceDone) after = done.lastId;
      }
    };

    it('of events is forever unless an operator sets it, to at least thirty days', async () => {
      const own = await newEndpoint(api);
      await emit(api, own, 2);
      clock.pass(1_000 * DAY);
      assert.equal(await remove(), 0);
      await assert.rejects(
        setRetention(api.core.database, clock.now, 29, TEST_ACTOR),
        (failure) => failure instanceof ApiError && failure.refusal.code === 'invalid_field',
      );
    });

    it('of events removes only the oldest: lists begin later, an earlier cursor has expired, and an endpoint left behind continues', async () => {
      const bank = await openBank(api);
      const account = await bank.account();
      const behind = await newEndpoint(api, ['account.verified'], bank);
      await emit(api, { account }, 700);
      const cursor = async (query: string): Promise<string> =>
        text(answered(await bank.get(`/v1/events?${query}`), 200).json.next_cursor);
      const upward = await cursor('order=asc&limit=5');
      clock.pass(31 * DAY);
      await emit(api, { account }, 3);
      const young = await openBank(api);
      await emit(api, { account: await young.account() }, 2);
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
      assert.equal(answered(await young.get('/v1/events'), 200).json.first_sequence, 1);
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

    it('of events expires only cursors after which events are missing, and not those of a rare type, a future time or an idle log', async () => {
      const bank = await openBank(api);
      const account = await bank.account();
      const [every, rare, future] = [
        'order=asc',
        'order=asc&type=payout.failed',
        'order=asc&created_at[gte]=9999-01-01T00:00:00Z',
      ] as const;
      const read = async (query: string, cursor = '') => {
        const path = `/v1/events?${query}`;
        const answer = await bank.get(cursor === '' ? path : withQuery(path, `cursor=${cursor}`));
        const { items, next_cursor: next } = answered(answer, 200).json;
        return { cursor: text(next), sequences: list(items).map(({ sequence }) => sequence) };
      };
      await emit(api, { account }, 4);
      const [ofRare, ofFuture] = [await read(rare), await read(future)];
      clock.pass(31 * DAY);
      await setRetention(api.core.database, clock.now, 30, TEST_ACTOR);
      assert((await remove()) >= 4);
      await setRetention(api.core.database, clock.now, null, TEST_ACTOR);

      assert.deepEqual((await read(rare, ofRare.cursor)).sequences, []);
      assert.deepEqual((await read(future, ofFuture.cursor)).sequences, []);
      const [begun, begunRare] = [await read(every), await read(rare)];
      await emit(api, { account }, 2);
      await emit(api, { account }, 1, 'payout.failed');
      assert.deepEqual((await read(every, begun.cursor)).sequences, [5, 6, 7]);
      for (const { cursor } of [begunRare, ofRare])
        assert.deepEqual((await read(rare, cursor)).sequences, [7]);
    });

    it('a delivery whose event retention removed ends without an attempt, and is shown as lost', async () => {
      const own = await newEndpoint(api);
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
