import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { pause, resume } from '../../src/webhooks/staff-actions.js';
import { startTestApi, type TestApi } from '../support/api.js';
import { idLiteral, openBank } from '../support/bank.js';
import { ownDatabase, type TestDatabase } from '../support/database.js';
import { FakeReceiver, Gate } from '../support/receiver.js';
import {
  claimAndRun,
  deliveriesOf,
  dispatched,
  emit,
  endpointOf,
  eventIds,
  expireLease,
  hooked,
  isSigned,
  partsOf,
  statesOf,
  TestClock,
  until,
} from './support.js';
import { addStaff, proven } from '../support/staff.js';

describe('a run of the dispatcher', () => {
  let db: TestDatabase;
  let api: TestApi;
  let receiver: FakeReceiver;

  before(async () => {
    db = await ownDatabase('runs');
    receiver = new FakeReceiver();
    api = await startTestApi(db, {}, { receiver });
  });
  beforeEach(() => {
    receiver.reply = () => 200;
  });
  after(async () => {
    await db.remove();
  });

  it('a run of the dispatcher sends every event since the registration once, as the log has it, signed with the secret', async () => {
    const own = await hooked(api);
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
          `SELECT id, body FROM events WHERE tenant_id=X'${own.account.tenantId.replaceAll('-', '')}'`,
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

  it('a run of the dispatcher leaves a slow receiver with a backlog after five seconds, though its attempts overlap', async () => {
    const own = await hooked(api);
    await emit(api, own, 200);
    let sent = 0;
    receiver.reply = async () => {
      await sleep(550 + 50 * ((sent += 1) % 8));
      return 200;
    };
    const began = performance.now();
    const stored = await claimAndRun(partsOf(api, receiver), own.id);
    assert(performance.now() - began < 8_000);
    assert.equal(stored?.isReleased, true);
    const { leaseUntil, nextDueAt } = await endpointOf(api, own.id);
    assert.deepEqual([leaseUntil, nextDueAt === null], [null, false]);
    assert(sent < 200);
    assert.deepEqual(await statesOf(api, own.id), { delivered: sent });
  });

  it('a run of the dispatcher counts as lost what retention removed before it was read, not what it removes afterwards', async () => {
    const own = await hooked(api);
    await emit(api, own, 20);
    const tenant = idLiteral(own.account.tenantId);
    const removeThrough = async (sequence: number): Promise<void> => {
      await db.change(`DELETE FROM events WHERE tenant_id=${tenant} AND sequence<=${sequence}`);
      await db.change(
        `INSERT INTO event_removals (tenant_id,removed_through,removed_until) VALUES (${tenant},${sequence},'2020-01-01')
         ON DUPLICATE KEY UPDATE removed_through=${sequence}`,
      );
    };
    await removeThrough(5);
    receiver.reply = async () => {
      if (receiver.at(own.url).length === 1) await removeThrough(12);
      return 200;
    };
    assert.equal((await dispatched(partsOf(api, receiver), own.id)).attempts, 15);
    const { lostFrom, lostTo } = await endpointOf(api, own.id);
    assert.deepEqual([lostFrom, lostTo], [1n, 5n]);
  });

  it('a run of the dispatcher sends two at a time to a receiver that answers nothing, and eight again once it answers', async () => {
    const own = await hooked(api);
    const gate = new Gate();
    receiver.reply = () => gate.reply();
    await emit(api, own, 1);
    const running = dispatched(partsOf(api, receiver), own.id);
    const arrived = (): number => receiver.at(own.url).length;
    await until('it hangs', () => arrived() === 1);
    await sleep(2_100);
    await emit(api, own, 20);
    await until('one more is sent', () => arrived() === 2);
    await sleep(300);
    assert.equal(arrived(), 2);
    receiver.reply = () => 200;
    gate.open(200);
    assert.deepEqual(await running, { ended: 'idle', attempts: 21 });
    assert.deepEqual(await statesOf(api, own.id), { delivered: 21 });
  });

  it('a run of the dispatcher keeps its claim while an attempt is in flight', async () => {
    const own = await hooked(api);
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

  it('a run of the dispatcher that was overtaken by another can write nothing', async () => {
    const own = await hooked(api);
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
    const own = await hooked(api);
    await emit(api, own, 40);
    const operating = api.core;
    const ana = proven(
      await addStaff(operating.database, { name: 'who pauses', rights: ['pause'] }),
    );
    const gate = new Gate();
    receiver.reply = () => gate.reply();
    const running = dispatched(partsOf(api, receiver), own.id);
    await until('eight are on their way', () => receiver.at(own.url).length === 8);
    assert.equal(await pause(operating, own.id, ana), true);
    await sleep(1_200);
    gate.open(200);
    assert.deepEqual(await running, { ended: 'held', attempts: 8 });
    assert.deepEqual(await dispatched(partsOf(api, receiver), own.id), {
      ended: 'held',
      attempts: 0,
    });
    assert.equal(receiver.at(own.url).length, 8);
    receiver.reply = () => 200;
    assert.equal(await resume(operating, own.id, ana), true);
    assert.equal((await dispatched(partsOf(api, receiver), own.id)).attempts, 32);
  });

  it('a run of the dispatcher skips events that nobody subscribed to without writing a row, and starts at the head of the log', async () => {
    const bank = await openBank(api);
    const account = await bank.account();
    await emit(api, { account }, 5);
    const own = { ...(await hooked(api, ['payout.failed'], bank)), account };
    await emit(api, own, 3_000, 'transfer.rejected');
    await emit(api, own, 2, 'payout.failed');
    await emit(api, own, 1, 'payout.completed');
    assert.equal((await dispatched(partsOf(api, receiver), own.id)).attempts, 2);
    assert.equal((await deliveriesOf(api, own.id)).length, 2);
    assert.equal((await endpointOf(api, own.id)).cursorSequence, 3_008n);
  });
});
