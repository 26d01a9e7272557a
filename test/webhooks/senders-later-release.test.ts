import assert from 'node:assert/strict';
import { instant } from '../../src/core/instant.js';
import { webhookEndpoints } from '../../src/db/entities/webhooks.js';
import { updateSql } from '../../src/db/statements.js';
import { Senders } from '../../src/webhooks/senders/senders.js';
import { startTestApi, type TestApi } from '../support/api.js';
import { idLiteral } from '../support/bank.js';
import type { TestDatabase } from '../support/database.js';
import { FakeReceiver } from '../support/receiver.js';
import {
  emit,
  endpointOf,
  expireLease,
  type Hooked,
  hooked,
  ownDatabase,
  partsOf,
  statesOf,
  until,
} from './support.js';

describe('the senders of a worker beside a later release', () => {
  let db: TestDatabase;
  let api: TestApi;
  const receiver = new FakeReceiver();
  const failures: unknown[] = [];
  const working: Senders[] = [];

  before(async () => {
    db = await ownDatabase('senders_later');
    api = await startTestApi(db, {}, { receiver });
  });
  afterEach(() => Promise.all(working.splice(0).map((one) => one.stop())));
  after(async () => {
    await api.stop();
    await db.remove();
  });

  function senders(): Senders {
    const observer = {
      attempted: () => undefined,
      sending: () => undefined,
      failed: (fault: unknown) => void failures.push(fault),
    };
    const made = new Senders(partsOf(api, receiver, { observer }), 100);
    working.push(made);
    return made;
  }
  const arrivedAt = ({ url }: Hooked): string[] => receiver.at(url).map(({ id }) => id);
  const untilLeft = (own: Hooked): Promise<void> =>
    until('it is left', async () => (await endpointOf(api, own.id)).leaseUntil === null);

  it('leave endpoints with a type or a version of a later release as they are, and send to all others', async () => {
    const [typed, versioned, own] = [await hooked(api), await hooked(api), await hooked(api)];
    await db.change(
      `INSERT INTO webhook_subscriptions (endpoint_id, type, tenant_id, from_sequence)
       SELECT endpoint_id, 'loan.granted', tenant_id, 1 FROM webhook_subscriptions WHERE endpoint_id=${idLiteral(typed.id)}`,
    );
    await db.change(`UPDATE webhook_endpoints SET api_version='2999-01-01' WHERE id=${idLiteral(versioned.id)}`);
    for (const one of [typed, versioned, own]) await emit(api, one, 1);
    await db.change(updateSql(webhookEndpoints, { nextDueAt: instant(0) }, { id: typed.id }));
    senders().start();
    await until('it arrives', () => arrivedAt(own).length === 1);
    await untilLeft(own);
    const left = await db.sql(
      `SELECT cursor_sequence, fence FROM webhook_endpoints WHERE id IN (${[typed.id, versioned.id].map(idLiteral).join(',')})`,
    );
    const untouched = { cursor_sequence: '0', fence: '0' };
    assert.deepEqual([left, failures], [[untouched, untouched], []]);
  });

  it("send to all others while one tenant's event can only be read by a later release, and that one when it can be", async () => {
    const [strange, own] = [await hooked(api), await hooked(api)];
    await Promise.all([emit(api, strange, 1), emit(api, own, 1)]);
    const of = `WHERE tenant_id=${idLiteral(strange.account.tenantId)}`;
    const [was] = await db.sql(`SELECT body FROM events ${of}`);
    await db.change(`UPDATE events SET body='z9' ${of}`);
    senders().start();
    await until('it arrives', () => arrivedAt(own).length === 1);
    assert.deepEqual(arrivedAt(strange), []);
    await db.change(`UPDATE events SET body='${String(was?.body)}' ${of}`);
    await expireLease(db, strange.id);
    await until('the other arrives', () => arrivedAt(strange).length === 1);
    await untilLeft(strange);
    assert.deepEqual(await statesOf(api, own.id), { delivered: 1 });
  });
});
