import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Uuid } from '../../src/core/ids.js';
import { instant } from '../../src/core/instant.js';
import type { OutboxRow } from '../../src/db/entities/outbox.js';
import { webhookEndpoints } from '../../src/db/entities/webhooks.js';
import { updateSql } from '../../src/db/statements.js';
import type { WebhookDeps } from '../../src/webhooks/deps.js';
import { WebhookDispatcher } from '../../src/webhooks/dispatcher.js';
import { pauseEndpoint, resumeEndpoint } from '../../src/webhooks/staff-actions.js';
import { startTestApi } from '../helpers/api.js';
import { answered, idLiteral } from '../helpers/bank.js';
import { openDatabase, ownDatabase } from '../helpers/database.js';
import { failedWith, FakeReceiver, Gate } from '../helpers/receiver.js';
import { addStaff, proven } from '../helpers/staff.js';
import { until } from '../helpers/temporal.js';
import {
  claimAndRun,
  deliveriesOf,
  dispatched,
  emit,
  endpointOf,
  eventIds,
  expireLease,
  type TestEndpoint,
  newEndpoint,
  isSigned,
  noticesOf,
  partsOf,
  statesOf,
  TestClock,
} from './support.js';

const db = await ownDatabase('dispatcher');
const receiver = new FakeReceiver();
const api = await startTestApi(db, {}, { receiver });

describe('the dispatcher of a worker', () => {
  let told: OutboxRow[] = [];
  let failures: unknown[] = [];
  let setAside: Uuid[] = [];
  const working: WebhookDispatcher[] = [];

  beforeEach(() => {
    receiver.reply = () => 200;
    [told, failures, setAside] = [[], [], []];
  });
  afterEach(() => Promise.all(working.splice(0).map((dispatcher) => dispatcher.stop())));

  /** Endpoints of earlier tests may be retried meanwhile. */
  const toldOf = ({ id }: { readonly id: Uuid }): OutboxRow[] =>
    told.filter(({ resourceId }) => resourceId === id);

  function begin(slots = 100, changes: Partial<WebhookDeps> = {}, idleMs = 100): WebhookDispatcher {
    const notifier = { notify: (entry: object) => void told.push(entry as OutboxRow) };
    const observer = {
      attempted: () => undefined,
      slotsTaken: () => undefined,
      setAside: (id: Uuid) => void setAside.push(id),
      failed: (fault: unknown) => void failures.push(fault),
    };
    const parts = partsOf(api, receiver, { notifier, observer, ...changes });
    const dispatcher = new WebhookDispatcher(parts, slots, { busyMs: 25, idleMs });
    dispatcher.start();
    working.push(dispatcher);
    return dispatcher;
  }
  const ids = ({ account }: TestEndpoint): Promise<string[]> => eventIds(api, account.tenantId);
  const arrivedAt = ({ url }: TestEndpoint): string[] => receiver.at(url).map(({ id }) => id);
  /** The first of its events. */
  const redeliver = async (own: TestEndpoint): Promise<void> => {
    const [first] = await ids(own);
    answered(await own.bank.request('POST', `/v1/events/${first}/redeliver`), 200);
  };
  /** No run has the endpoint, and nothing is due. */
  const untilLeft = (own: TestEndpoint): Promise<true> =>
    until('it is left', async () => (await endpointOf(api, own.id)).leaseUntil === null);
  const overdue = ({ id }: TestEndpoint, failuresInRow: number): Promise<unknown> =>
    db.change(
      updateSql(
        webhookEndpoints,
        { nextDueAt: instant(Date.parse('2020-01-01')), failuresInRow },
        { id },
      ),
    );

  it('sends events straight from the log, each once, in order and signed, and notifies no workflow', async () => {
    const own = await Promise.all([newEndpoint(api), newEndpoint(api), newEndpoint(api)]);
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

  it('shares the endpoints with another process: nothing is skipped, and nothing is sent twice', async () => {
    const own = await Promise.all(Array.from({ length: 8 }, () => newEndpoint(api)));
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

  it('sets endpoints aside that it cannot read for a minute, and sends to all others', async () => {
    const statements = [
      [
        "UPDATE webhook_subscriptions SET type='later.type' WHERE type='payout.failed' AND endpoint_id=",
        "UPDATE webhook_subscriptions SET type='payout.failed' WHERE type='later.type' AND endpoint_id=",
      ],
      [
        "UPDATE webhook_endpoints SET api_version='2099-01-01' WHERE id=",
        "UPDATE webhook_endpoints SET api_version='2026-11-01' WHERE id=",
      ],
      [
        "UPDATE webhook_endpoints SET disabled_reason='later' WHERE id=",
        'UPDATE webhook_endpoints SET disabled_reason=NULL WHERE id=',
      ],
    ] as const;
    const own = await Promise.all(
      statements.map(() => newEndpoint(api, ['account.verified', 'payout.failed'])),
    );
    const other = await newEndpoint(api);
    const change = (which: 0 | 1) =>
      Promise.all(
        own.map(({ id }, index) => db.change(`${statements[index]![which]}${idLiteral(id)}`)),
      );
    await change(0);
    await Promise.all([...own, other].map((one) => emit(api, one, 1)));
    begin();
    await until('the other has its event', () => arrivedAt(other).length === 1);
    await until('each is set aside', () => setAside.length >= own.length);
    await emit(api, other, 1);
    await until('the other has its next event', () => arrivedAt(other).length === 2);
    assert.deepEqual([setAside.toSorted(), failures], [own.map(({ id }) => id).toSorted(), []]);
    await change(1);
    for (const { id } of own) await expireLease(db, id);
    await until('they have theirs', () => own.every((one) => arrivedAt(one).length === 1));
  });

  it('that starts sends events of any age that no dispatcher has sent', async () => {
    const own = await newEndpoint(api);
    await emit(api, own, 2);
    await db.change(
      `UPDATE event_counters SET last_at='2020-01-01' WHERE tenant_id=${idLiteral(own.account.tenantId)}`,
    );
    begin();
    await until('they arrive', () => arrivedAt(own).length === 2);
  });

  it('reaches other endpoints, and the same endpoint, while a delivery hangs', async () => {
    const [stuck, own] = [await newEndpoint(api), await newEndpoint(api)];
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

  it('retries deliveries that the workflow missed, and notifies it of failures and of the end', async () => {
    const own = await newEndpoint(api);
    receiver.reply = () => 500;
    begin();
    await emit(api, own, 1);
    await until('it is told', () => toldOf(own).length === 1);
    const overdue = (): Promise<number> =>
      db
        .change(
          `UPDATE webhook_endpoints e JOIN webhook_deliveries d ON d.endpoint_id=e.id SET e.next_due_at='2020-01-01',
           e.waits_until='2020-01-01', d.next_attempt_at='2020-01-01'
           WHERE d.state='retrying' AND e.id=${idLiteral(own.id)}`,
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

  it('reaches healthy endpoints that are due, while any number of failing ones wait for room', async () => {
    const [stuck, own, ...failing] = await Promise.all(
      Array.from({ length: 6 }, () => newEndpoint(api)),
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

  it('sends an event again that is redelivered while its first delivery is in flight', async () => {
    const own = await newEndpoint(api);
    const gate = new Gate();
    receiver.reply = () => gate.reply();
    begin(1);
    await emit(api, own, 1);
    await until('it is on its way', () => arrivedAt(own).length === 1);
    await redeliver(own);
    receiver.reply = () => 200;
    gate.open(200);
    await until('it comes again', () => arrivedAt(own).length >= 2);
    await untilLeft(own);
    assert.deepEqual(await statesOf(api, own.id), { delivered: 2 });
  });

  it('that dies before it has stored results is replaced by another one, which sends the same ids and bytes and skips no event', async () => {
    const own = await newEndpoint(api);
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

  it('stores attempts in flight when it stops, and canceled attempts use no step', async () => {
    const [quick, stuck] = [await newEndpoint(api), await newEndpoint(api)];
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

  it('a run of the dispatcher sends every event since the registration once, as the log has it, signed with the secret', async () => {
    const own = await newEndpoint(api);
    await emit(api, own, 250);
    const result = await dispatched(partsOf(api, receiver), own.id);
    assert.deepEqual(result, { ended: 'idle', attempts: 250 });
    const got = receiver.at(own.url);
    assert.deepEqual(
      got.map(({ id }) => id),
      await eventIds(api, own.account.tenantId),
    );
    const bodies = new Map(
      (
        await db.sql(
          `SELECT id, body FROM events WHERE tenant_id=${idLiteral(own.account.tenantId)}`,
        )
      ).map((row) => [(row.id as Buffer).toString('hex'), String(row.body)]),
    );
    for (const { id, body, headers } of got) {
      assert.equal(body, bodies.get(id.replaceAll('-', '')));
      assert(isSigned(own, headers, body));
    }
    assert.deepEqual(await statesOf(api, own.id), { delivered: 250 });
    const { cursorSequence, leaseUntil, lastSuccessAt } = await endpointOf(api, own.id);
    assert.deepEqual([cursorSequence, leaseUntil, lastSuccessAt === null], [250n, null, false]);
  });

  it('a run of the dispatcher keeps its claim while an attempt is in flight', async () => {
    const own = await newEndpoint(api);
    await emit(api, own, 1);
    const gate = new Gate();
    receiver.reply = () => gate.reply();
    const clock = new TestClock();
    const parts = partsOf(api, receiver, { clock: clock.now });
    const running = claimAndRun(parts, own.id);
    await until('it is on its way', () => receiver.at(own.url).length === 1);
    for (let times = 0; times < 3; times += 1) {
      clock.pass(4_000);
      await until('the claim is extended', async () => {
        const { leaseUntil } = await endpointOf(api, own.id);
        return leaseUntil !== null && leaseUntil > clock.now() + 4_000;
      });
      assert.equal(await claimAndRun(parts, own.id), null);
    }
    gate.open(200);
    assert.equal((await running)?.isReleased, true);
    assert.equal(receiver.at(own.url).length, 1);
  });

  it('a run of the dispatcher whose claim was taken over cannot write', async () => {
    const own = await newEndpoint(api);
    await emit(api, own, 4);
    const gate = new Gate();
    receiver.reply = () => gate.reply();
    const abandoned = dispatched(partsOf(api, receiver), own.id);
    await until('the first sends', () => receiver.at(own.url).length === 4);
    receiver.reply = () => 200;
    await until('another run has sent them', async () => {
      await expireLease(db, own.id);
      return (await dispatched(partsOf(api, receiver), own.id)).attempts === 4;
    });
    const before = [await endpointOf(api, own.id), await deliveriesOf(api, own.id)];
    gate.open(500);
    assert.deepEqual(await abandoned, { ended: 'taken_over', attempts: 4 });
    assert.deepEqual([await endpointOf(api, own.id), await deliveriesOf(api, own.id)], before);
    assert.deepEqual(await statesOf(api, own.id), { delivered: 4 });
  });

  it('a run of the dispatcher sends nothing to an endpoint that is paused, and begins nothing new when it is paused meanwhile', async () => {
    const own = await newEndpoint(api);
    await emit(api, own, 40);
    const ana = proven(
      await addStaff(api.core.database, { name: 'who pauses', rights: ['pause'] }),
    );
    const gate = new Gate();
    receiver.reply = () => gate.reply();
    const running = dispatched(partsOf(api, receiver), own.id);
    await until('eight are on their way', () => arrivedAt(own).length === 8);
    assert.equal(await pauseEndpoint(api.core, own.id, ana), true);
    // Longer than a turn of a run, which then reads the endpoint again.
    await sleep(1_200);
    receiver.reply = () => 200;
    gate.open(200);
    assert.deepEqual(await running, { ended: 'held', attempts: 8 });
    const held = await dispatched(partsOf(api, receiver), own.id);
    assert.deepEqual([held, arrivedAt(own).length], [{ ended: 'held', attempts: 0 }, 8]);
    assert.equal(await resumeEndpoint(api.core, own.id, ana), true);
    assert.equal((await dispatched(partsOf(api, receiver), own.id)).attempts, 32);
  });
});
