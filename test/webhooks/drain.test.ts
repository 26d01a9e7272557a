import assert from 'node:assert/strict';
import { startTestApi, type TestApi } from '../support/api.js';
import type { TestDatabase } from '../support/database.js';
import { FakeReceiver, hanging } from '../support/receiver.js';
import {
  drained,
  emit,
  endpointOf,
  eventIds,
  hooked,
  isSigned,
  ownDatabase,
  partsOf,
  statesOf,
  until,
} from './support.js';

describe('the drain of an endpoint', function () {
  this.timeout(30_000);
  let db: TestDatabase;
  let api: TestApi;
  let receiver: FakeReceiver;

  before(async () => {
    db = await ownDatabase('drain');
    receiver = new FakeReceiver();
    api = await startTestApi(db, {}, { receiver });
  });
  beforeEach(() => {
    receiver.reply = () => 200;
  });
  after(async () => {
    await api.stop();
    await db.remove();
  });

  it('sends every event since the registration once, as the log has it, signed with the secret', async () => {
    const own = await hooked(api);
    await emit(api, own, 250);
    const result = await drained(partsOf(api, receiver), own.id);
    assert.deepEqual(result, { ended: 'idle', attempts: 250, nextDueAt: null });
    const got = receiver.at(own.url);
    assert.deepEqual(got.map(({ id }) => id).sort(), await eventIds(api, own.account.tenantId));
    const bodies = new Map(
      (await db.sql(`SELECT id, body FROM events WHERE tenant_id=X'${own.account.tenantId.replaceAll('-', '')}'`)).map(
        (row) => [(row.id as Buffer).toString('hex'), String(row.body)],
      ),
    );
    for (const { id, body, headers } of got) {
      assert.equal(body, bodies.get(id.replaceAll('-', '')));
      assert(isSigned(own, headers, body));
    }
    assert.deepEqual(await statesOf(api, own.id), { delivered: 250 });
    const { cursorSequence, leaseUntil, lastSuccessAt } = await endpointOf(api, own.id);
    assert.deepEqual([cursorSequence, leaseUntil, lastSuccessAt === null], [250n, null, false]);
  });

  it('begins no more than eight attempts at a time', async () => {
    const own = await hooked(api);
    await emit(api, own, 40);
    let [now, most] = [0, 0];
    receiver.reply = async () => {
      most = Math.max(most, (now += 1));
      await new Promise((resolve) => setTimeout(resolve, 5));
      now -= 1;
      return 200;
    };
    await drained(partsOf(api, receiver), own.id);
    assert.equal(most, 8);
  });

  it('is not held up by an endpoint that hangs', async () => {
    const [stuck, own] = [await hooked(api), await hooked(api)];
    receiver.reply = ({ url }) => (url === stuck.url ? hanging() : 200);
    await Promise.all([emit(api, stuck, 20), emit(api, own, 100)]);
    const stop = new AbortController();
    const hangs = drained(partsOf(api, receiver), stuck.id, { signal: stop.signal });
    await until('it hangs', () => receiver.at(stuck.url).length === 8);
    const { attempts } = await drained(partsOf(api, receiver), own.id);
    assert.equal(attempts, 100);
    stop.abort();
    assert.deepEqual(await hangs, { ended: 'stopped', attempts: 0, nextDueAt: (await hangs).nextDueAt });
    assert.deepEqual(await statesOf(api, stuck.id), { pending: 20 });
  });
});
