import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { asUuid, newId, type Uuid } from '../../src/core/ids.js';
import { instant } from '../../src/core/instant.js';
import { eventCounters, eventHeads } from '../../src/db/entities/events.js';
import type { Database } from '../../src/db/database.js';
import type { OutboxRow } from '../../src/db/entities/outbox.js';
import {
  type WebhookEndpoint,
  webhookEndpoints,
  webhookSubscriptions,
} from '../../src/db/entities/webhooks.js';
import { DatabaseUnavailable } from '../../src/db/failures.js';
import { insertSql, updateSql } from '../../src/db/statements.js';
import type { WebhookDeps } from '../../src/webhooks/deps.js';
import { MAX_ENDPOINTS, WORKFLOW_HEAD_START_MS } from '../../src/webhooks/rules.js';
import { WebhookDispatcher } from '../../src/webhooks/dispatcher.js';
import { startTestApi, type TestApi } from '../support/api.js';
import { answered } from '../support/bank.js';
import { openDatabase, ownDatabase, type TestDatabase } from '../support/database.js';
import { answeredWith, failedWith, FakeReceiver, Gate } from '../support/receiver.js';
import {
  deliveriesOf,
  emit,
  endpointOf,
  eventIds,
  expireLease,
  type Hooked,
  hooked,
  isSigned,
  noticesOf,
  partsOf,
  statesOf,
  until,
} from './support.js';

const NOW = instant(Date.now());
const LATER = instant(Date.now() + 3_600_000);

describe('the dispatcher of a worker', () => {
  let db: TestDatabase;
  let api: TestApi;
  let receiver: FakeReceiver;
  let told: OutboxRow[] = [];
  let failures: unknown[] = [];
  const working: WebhookDispatcher[] = [];

  before(async () => {
    db = await ownDatabase('dispatcher');
    receiver = new FakeReceiver();
    api = await startTestApi(db, {}, { receiver });
  });
  beforeEach(() => {
    receiver.reply = () => 200;
    [told, failures] = [[], []];
  });
  afterEach(() => Promise.all(working.splice(0).map((dispatcher) => dispatcher.stop())));
  after(async () => {
    await db.remove();
  });

  /** Endpoints of earlier tests may be retried meanwhile. */
  const toldOf = ({ id }: { readonly id: Uuid }): OutboxRow[] =>
    told.filter(({ resourceId }) => resourceId === id);

  function begin(slots = 100, changes: Partial<WebhookDeps> = {}, idleMs = 100): WebhookDispatcher {
    const notifier = { notify: (entry: object) => void told.push(entry as OutboxRow) };
    const observer = {
      attempted: () => undefined,
      sending: () => undefined,
      failed: (fault: unknown) => void failures.push(fault),
    };
    const parts = partsOf(api, receiver, { notifier, observer, ...changes });
    const dispatcher = new WebhookDispatcher(parts, slots, { busyMs: 25, idleMs });
    dispatcher.start();
    working.push(dispatcher);
    return dispatcher;
  }
  const ids = ({ account }: Hooked): Promise<string[]> => eventIds(api, account.tenantId);
  const arrivedAt = ({ url }: Hooked): string[] => receiver.at(url).map(({ id }) => id);
  /** The first of its events. */
  const redeliver = async (own: Hooked): Promise<void> => {
    const [first] = await ids(own);
    answered(await own.bank.request('POST', `/v1/events/${first}/redeliver`), 200);
  };
  /** Nobody is at it, and nothing is due. */
  const untilLeft = (own: Hooked): Promise<void> =>
    until('it is left', async () => (await endpointOf(api, own.id)).leaseUntil === null);
  const overdue = ({ id }: Hooked, failuresInRow: number): Promise<unknown> =>
    db.change(
      updateSql(
        webhookEndpoints,
        { nextDueAt: instant(Date.parse('2020-01-01')), failuresInRow },
        { id },
      ),
    );

  /** Endpoints of tenants of their own, so many, that have news. An index has these tenants before all others. */
  async function standBefore(
    like: Hooked,
    count: number,
    as: Partial<WebhookEndpoint>,
  ): Promise<void> {
    const [endpoint, now] = [await endpointOf(api, like.id), instant(Date.now())];
    const some = newId().slice(-4);
    const tenantOf = (at: number): Uuid =>
      asUuid(`00000000-${some}-7000-8000-${String(at).padStart(12, '0')}`);
    const [type, lastSequence] = ['account.verified', 1n] as const;
    const tenantIds = Array.from({ length: Math.ceil(count / MAX_ENDPOINTS) }, (_, at) =>
      tenantOf(at),
    );
    const ahead = tenantIds.flatMap((tenantId) =>
      Array.from({ length: MAX_ENDPOINTS }, (): WebhookEndpoint => ({
        ...endpoint,
        id: newId(),
        tenantId,
        ...as,
      })),
    );
    const subscribed = ahead.map(({ id: endpointId, tenantId }) => ({
      endpointId,
      tenantId,
      type,
      fromSequence: 0n,
    }));
    await db.change(insertSql(webhookEndpoints, ahead));
    await db.change(insertSql(webhookSubscriptions, subscribed));
    const heads = tenantIds.map((tenantId) => ({ tenantId, type, lastSequence }));
    await db.change(insertSql(eventHeads, heads));
    const counters = tenantIds.map((tenantId) => ({
      tenantId,
      lastSequence,
      lastAt: now,
      restores: 0,
    }));
    await db.change(insertSql(eventCounters, counters));
  }

  it('the dispatcher of a worker sends events straight from the log, each once, in order, signed, and tells no workflow', async () => {
    const own = await Promise.all([hooked(api), hooked(api), hooked(api)]);
    const before = await Promise.all(own.map(({ id }) => noticesOf(api, id)));
    begin();
    for (let count = 0; count < 5; count += 1) {
      await Promise.all(own.map((one) => emit(api, one, 1)));
      await until('it arrives', () => own.every((one) => arrivedAt(one).length === count + 1));
    }
    for (const one of own) {
      await untilLeft(one);
      assert.deepEqual(arrivedAt(one), await ids(one));
      for (const { headers, body } of receiver.at(one.url)) assert(isSigned(one, headers, body));
      assert.deepEqual(await statesOf(api, one.id), { delivered: 5 });
      const { cursorSequence, nextDueAt, waitsUntil, lastSuccessAt } = await endpointOf(
        api,
        one.id,
      );
      assert.deepEqual(
        [cursorSequence, nextDueAt, waitsUntil, lastSuccessAt === null],
        [5n, null, null, false],
      );
    }
    assert.deepEqual(
      [own.flatMap(toldOf), await Promise.all(own.map(({ id }) => noticesOf(api, id)))],
      [[], before],
    );
  });

  it('the dispatcher of a worker shares the endpoints with another process: nothing is skipped, and nothing is sent twice', async () => {
    const own = await Promise.all(Array.from({ length: 8 }, () => hooked(api)));
    begin();
    begin();
    for (let round = 0; round < 10; round += 1) {
      await Promise.all(own.map((one) => emit(api, one, 2)));
      await sleep(20);
    }
    await until('all arrive', () => own.every((one) => arrivedAt(one).length >= 20));
    await Promise.all(own.map(untilLeft));
    for (const one of own) assert.deepEqual(arrivedAt(one).toSorted(), (await ids(one)).toSorted());
    assert.deepEqual(failures, []);
  });

  it('the dispatcher of a worker looks again as soon as an endpoint is left with more to send, without waiting for the next look', async () => {
    const own = await hooked(api);
    const gate = new Gate();
    receiver.reply = () => gate.reply();
    await emit(api, own, 1);
    // After a look that finds nothing they would wait for an hour.
    begin(100, {}, 3_600_000);
    await until('the first is on its way', () => arrivedAt(own).length === 1);
    await emit(api, own, 1);
    // For the look that finds the endpoint busy.
    await sleep(150);
    receiver.reply = () => 200;
    gate.open(200);
    await until('the second arrives', () => arrivedAt(own).length === 2);
  });

  it('the dispatcher of a worker sends up to 24 new events, eight at a time, before anything is written about them', async () => {
    const own = await hooked(api);
    await emit(api, own, 24);
    let [now, most] = [0, 0];
    let written: unknown;
    receiver.reply = async () => {
      most = Math.max(most, (now += 1));
      if (arrivedAt(own).length === 24) written = await statesOf(api, own.id);
      else await sleep(2);
      now -= 1;
      return 200;
    };
    begin();
    await until('all arrive', () => arrivedAt(own).length === 24);
    await untilLeft(own);
    assert.deepEqual([most, written, await statesOf(api, own.id)], [8, {}, { delivered: 24 }]);
    assert.deepEqual(arrivedAt(own), await ids(own));
  });

  it('the dispatcher of a worker begins no more of the new events once one has failed', async () => {
    const own = await hooked(api);
    await emit(api, own, 20);
    receiver.reply = () => 500;
    begin();
    await until('it is probed', async () => (await endpointOf(api, own.id)).probeAt !== null);
    await untilLeft(own);
    assert.equal(arrivedAt(own).length, 8);
    assert.deepEqual(await statesOf(api, own.id), { retrying: 8 });
    assert.equal((await endpointOf(api, own.id)).cursorSequence, 8n);
  });

  it('the dispatcher of a worker stores what was begun when time is up, and goes on with the rest: each arrives once', async () => {
    const own = await hooked(api);
    await emit(api, own, 24);
    receiver.reply = async () => {
      await sleep(800);
      return 200;
    };
    begin();
    await until(
      'some stand in the table untried',
      async () => ((await statesOf(api, own.id)).pending ?? 0) > 0,
    );
    await until('all arrive', () => arrivedAt(own).length === 24);
    await untilLeft(own);
    assert.deepEqual(arrivedAt(own), await ids(own));
    assert.deepEqual(await statesOf(api, own.id), { delivered: 24 });
  });

  it('the dispatcher of a worker reaches others, and the same endpoint too, while a delivery hangs, however few slots there are', async () => {
    const [stuck, own] = [await hooked(api), await hooked(api)];
    const gate = new Gate();
    let hangs = true;
    receiver.reply = ({ url }) => {
      if (url !== stuck.url || !hangs) return 200;
      hangs = false;
      return gate.reply();
    };
    begin(1);
    await emit(api, stuck, 2);
    await until('both were sent', () => arrivedAt(stuck).length === 2);
    await emit(api, own, 1);
    await until('the other has its event', () => arrivedAt(own).length === 1);
    await until(
      'what hangs stands in the table',
      async () => (await statesOf(api, stuck.id)).pending === 1,
    );
    assert.deepEqual(await statesOf(api, stuck.id), { delivered: 1, pending: 1 });
    await emit(api, stuck, 1);
    await until('its next event is sent', () => arrivedAt(stuck).length === 3);
    gate.open(200);
    await untilLeft(stuck);
    assert.deepEqual(await statesOf(api, stuck.id), { delivered: 3 });
    assert.equal(arrivedAt(stuck).length, 3);
  });

  it('the dispatcher of a worker leaves what failed to its workflow, which is told once, with a head start', async () => {
    const own = await hooked(api);
    const before = await noticesOf(api, own.id);
    receiver.reply = () => 500;
    begin();
    await emit(api, own, 1);
    await until('it is told', () => toldOf(own).length > 0);
    const [delivery] = await deliveriesOf(api, own.id);
    const { waitsUntil, nextDueAt } = await endpointOf(api, own.id);
    assert.deepEqual([delivery?.state, waitsUntil], ['retrying', delivery?.nextAttemptAt]);
    assert.equal(nextDueAt, (waitsUntil ?? 0) + WORKFLOW_HEAD_START_MS);
    await emit(api, own, 1);
    await until('the second fails', async () => (await statesOf(api, own.id)).retrying === 2);
    await untilLeft(own);
    assert.deepEqual([toldOf(own).length, await noticesOf(api, own.id)], [1, before + 1]);
    assert.equal((await endpointOf(api, own.id)).waitsUntil, waitsUntil);
  });

  it('the dispatcher of a worker retries what the workflow has not, tells it again if that fails, and of the end', async () => {
    const own = await hooked(api);
    receiver.reply = () => 500;
    begin();
    await emit(api, own, 1);
    await until('it is told', () => toldOf(own).length === 1);
    const overdue = (): Promise<number> =>
      db
        .change(
          `UPDATE webhook_endpoints e JOIN webhook_deliveries d ON d.endpoint_id=e.id SET e.next_due_at='2020-01-01',
           e.waits_until='2020-01-01', d.next_attempt_at='2020-01-01'
           WHERE d.state='retrying' AND e.id=X'${own.id.replaceAll('-', '')}'`,
        )
        .then(() => 0);
    await overdue();
    await until('it is told again', () => toldOf(own).length === 2);
    receiver.reply = () => 200;
    await overdue();
    await until('it is told of the end', () => toldOf(own).length === 3);
    assert.deepEqual(await statesOf(api, own.id), { delivered: 1 });
    const { waitsUntil, nextDueAt, failuresInRow } = await endpointOf(api, own.id);
    assert.deepEqual([waitsUntil, nextDueAt, failuresInRow], [null, null, 0]);
  });

  it('the dispatcher of a worker leaves a probed endpoint alone except for the probe: events wait for it', async () => {
    const own = await hooked(api);
    receiver.reply = () => 500;
    begin();
    await emit(api, own, 6);
    await until('it is probed', async () => (await endpointOf(api, own.id)).probeAt !== null);
    await untilLeft(own);
    const tried = arrivedAt(own).length;
    await emit(api, own, 3);
    await sleep(400);
    assert.equal(arrivedAt(own).length, tried);
    // As if nothing waited but what comes now.
    const is = `X'${own.id.replaceAll('-', '')}'`;
    await db.change(
      `UPDATE webhook_deliveries SET state='ended', next_attempt_at=NULL, finished_at=created_at WHERE endpoint_id=${is}`,
    );
    await db.change(
      `UPDATE webhook_endpoints SET next_due_at=NULL, waits_until=NULL WHERE id=${is}`,
    );
    await emit(api, own, 1);
    await until(
      'its time is noted',
      async () => (await endpointOf(api, own.id)).nextDueAt !== null,
    );
    receiver.reply = () => 200;
    await until('all come with the probe', () => arrivedAt(own).length === tried + 4);
  });

  it('the dispatcher of a worker sends events to a probed endpoint with its next probe, however late its retry is', async () => {
    const own = await hooked(api);
    const [probeAt, later] = [instant(Date.now() + 3_000), instant(Date.now() + 86_400_000)];
    const probed = {
      failuresInRow: 5,
      failingSince: instant(Date.now()),
      probeAt,
      nextDueAt: later,
    };
    await db.change(updateSql(webhookEndpoints, probed, { id: own.id }));
    begin();
    await emit(api, own, 1);
    await until(
      'its time is noted',
      async () => (await endpointOf(api, own.id)).nextDueAt === probeAt,
    );
    assert.equal(arrivedAt(own).length, 0);
    await until('it comes', () => arrivedAt(own).length === 1);
    assert(Date.now() >= probeAt);
  });

  for (const [what, as] of [
    ['that wait for their probes', { failuresInRow: 5, failingSince: NOW, probeAt: LATER }],
    ['that other processes send to', { leaseUntil: LATER }],
  ] as const)
    it(`the dispatcher of a worker reaches a tenant with new events despite any number of endpoints ${what}`, async () => {
      const [like, own] = [await hooked(api), await hooked(api)];
      await standBefore(like, 600, { ...as, nextDueAt: 'probeAt' in as ? LATER : NOW });
      begin();
      await emit(api, own, 1);
      await until('it arrives', () => arrivedAt(own).length === 1);
    });

  it('the dispatcher of a worker reaches healthy endpoints that are due, while any number of failing ones wait for room', async () => {
    const [stuck, own, ...failing] = await Promise.all(
      Array.from({ length: 6 }, () => hooked(api)),
    );
    assert(stuck !== undefined && own !== undefined);
    const gate = new Gate();
    receiver.reply = ({ url }) => (url === own.url ? 200 : gate.reply());
    begin(2);
    await emit(api, stuck, 1);
    await until('it hangs', async () => (await statesOf(api, stuck.id)).pending === 1);
    // Before their news, which would be sent at once to those that are well.
    await Promise.all(
      failing.map(({ id }) => db.change(updateSql(webhookEndpoints, { failuresInRow: 1 }, { id }))),
    );
    await Promise.all(failing.map((one) => emit(api, one, 1)));
    await Promise.all(failing.map((one) => overdue(one, 1)));
    await until('one comes', () => failing.flatMap(arrivedAt).length === 1);
    await sleep(500);
    // One of the two that may take long hangs already.
    assert.equal(failing.flatMap(arrivedAt).length, 1);
    await emit(api, own, 1);
    await until('it arrives', () => arrivedAt(own).length === 1);
    await redeliver(own);
    await until('it comes again', () => arrivedAt(own).length === 2);
    gate.open(200);
    receiver.reply = () => 200;
    await until('the others have theirs', () =>
      failing.every((one) => arrivedAt(one).length === 1),
    );
  });

  it('the dispatcher of a worker reaches healthy endpoints while any number of endpoints answer with 200, but slowly', async () => {
    const [gate, [own, ...slow]] = [
      new Gate(),
      await Promise.all(Array.from({ length: 7 }, () => hooked(api))),
    ];
    assert(own !== undefined);
    receiver.reply = ({ url }) => (url === own.url ? 200 : answeredWith(200, { durationMs: 900 }));
    begin(2);
    await Promise.all(slow.map((one) => emit(api, one, 1)));
    await until('each was slow once', () => slow.every((one) => arrivedAt(one).length === 1));
    await Promise.all(slow.map(untilLeft));
    receiver.reply = ({ url }) => (url === own.url ? 200 : gate.reply());
    await Promise.all(slow.map((one) => emit(api, one, 1)));
    await until(
      'they hang in every slot that they may take',
      () => slow.flatMap(arrivedAt).length === slow.length + 2,
    );
    await emit(api, own, 1);
    await until('the healthy one has its event', () => arrivedAt(own).length === 1);
    receiver.reply = () => 200;
    gate.open(200);
    await until('the others have theirs', () => slow.every((one) => arrivedAt(one).length === 2));
  });

  it('the dispatcher of a worker sends new events though something is always due: by turns, however few slots there are', async () => {
    const [own, ...due] = await Promise.all(Array.from({ length: 9 }, () => hooked(api)));
    assert(own !== undefined);
    let isOver = false;
    const keepDue = async (): Promise<void> => {
      while (!isOver) await Promise.all(due.map((one) => overdue(one, 0)));
    };
    const keeping = keepDue();
    begin(1);
    await emit(api, own, 1);
    await until('it arrives', () => arrivedAt(own).length === 1).finally(() => (isOver = true));
    await keeping;
  });

  it('the dispatcher of a worker sends an event again that is redelivered while a run is at its endpoint', async () => {
    const own = await hooked(api);
    begin();
    await emit(api, own, 1);
    await until('it arrives', () => arrivedAt(own).length === 1);
    await untilLeft(own);
    const gate = new Gate();
    receiver.reply = () => gate.reply();
    await emit(api, own, 1);
    await until('the second is on its way', () => arrivedAt(own).length === 2);
    const [first] = await ids(own);
    await redeliver(own);
    receiver.reply = () => 200;
    gate.open(200);
    await until(
      'the first came again',
      () => arrivedAt(own).filter((id) => id === first).length === 2,
    );
  });

  for (const [what, isExpired] of [
    ['its first delivery is in flight, or not stored yet', false],
    ['a run whose claim has expired may still store its first delivery', true],
  ] as const)
    it(`the dispatcher of a worker sends an event again that is redelivered while ${what}`, async () => {
      const own = await hooked(api);
      const gate = new Gate();
      receiver.reply = () => gate.reply();
      // Nobody else can begin.
      begin(1);
      await emit(api, own, 1);
      await until('it is on its way', () => arrivedAt(own).length === 1);
      if (isExpired) await expireLease(db, own.id);
      await redeliver(own);
      receiver.reply = () => 200;
      gate.open(200);
      await until('it comes again', () => arrivedAt(own).length >= 2);
      await untilLeft(own);
      if (!isExpired) assert.deepEqual(await statesOf(api, own.id), { delivered: 2 });
    });

  it('the dispatcher of a worker sends an event again that is redelivered while its redelivery is in flight', async () => {
    const own = await hooked(api);
    begin();
    await emit(api, own, 1);
    await until('it arrives', () => arrivedAt(own).length === 1);
    await untilLeft(own);
    const gate = new Gate();
    receiver.reply = () => gate.reply();
    await redeliver(own);
    await until('it is on its way', () => arrivedAt(own).length === 2);
    await redeliver(own);
    receiver.reply = () => 200;
    gate.open(200);
    await until('it comes once more', () => arrivedAt(own).length === 3);
    await untilLeft(own);
    assert.deepEqual(await statesOf(api, own.id), { delivered: 3 });
  });

  it('the dispatcher of a worker sends what it had chosen when the database failed', async () => {
    const own = await hooked(api);
    await emit(api, own, 1);
    const flaky = Object.create(api.core.database) as Database;
    flaky.withTransaction = () => {
      Reflect.deleteProperty(flaky, 'withTransaction');
      return Promise.reject(new DatabaseUnavailable('away for a moment'));
    };
    begin(10, { database: flaky });
    await until('it arrives', () => arrivedAt(own).length === 1);
    assert.equal(failures.length, 1);
  });

  it('the dispatcher of a worker that dies before it has stored is followed by another: the same id, the same bytes, nothing skipped', async () => {
    const own = await hooked(api);
    const dying = openDatabase(db.url);
    receiver.reply = async () => {
      if (arrivedAt(own).length === 12) await dying.close();
      return 200;
    };
    begin(10, { database: dying });
    await emit(api, own, 30);
    await until('they have failed', () => failures.length > 0);
    const { delivered = 0 } = await statesOf(api, own.id);
    assert(delivered < arrivedAt(own).length, `${delivered} were stored`);
    receiver.reply = () => 200;
    await expireLease(db, own.id);
    begin();
    await until('all are delivered', async () => (await statesOf(api, own.id)).delivered === 30);
    assert.equal(new Set(receiver.at(own.url).map(({ id, body }) => `${id} ${body}`)).size, 30);
  });

  it('the dispatcher of a worker stores what was in flight when it is stopped, and what it cuts off uses no step', async () => {
    const [quick, stuck] = [await hooked(api), await hooked(api)];
    const gate = new Gate();
    receiver.reply = () => gate.reply();
    const dispatcher = begin();
    await Promise.all([emit(api, quick, 1), emit(api, stuck, 1)]);
    await until(
      'both are on their way',
      () => arrivedAt(quick).length + arrivedAt(stuck).length === 2,
    );
    const stopped = dispatcher.stop();
    gate.open(failedWith('canceled'));
    await stopped;
    for (const own of [quick, stuck]) {
      const [delivery] = await deliveriesOf(api, own.id);
      assert.deepEqual([delivery?.state, delivery?.steps], ['pending', 0]);
      assert.equal((await endpointOf(api, own.id)).leaseUntil, null);
    }
    receiver.reply = () => 200;
    begin();
    await until('both come', () => arrivedAt(quick).length + arrivedAt(stuck).length === 4);
    await untilLeft(quick);
    assert.deepEqual([await statesOf(api, quick.id), toldOf(quick)], [{ delivered: 1 }, []]);
  });
});
