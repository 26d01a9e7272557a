import assert from 'node:assert/strict';
import type { Uuid } from '../../src/core/ids.js';
import { Failpoints } from '../../src/core/failpoints.js';
import { systemClock } from '../../src/core/instant.js';
import type { OutboxRow } from '../../src/db/entities/outbox.js';
import { TemporalClient } from '../../src/temporal/client.js';
import { TemporalUnavailable } from '../../src/temporal/failures.js';
import { Outbox } from '../../src/temporal/outbox.js';
import { Relay } from '../../src/temporal/relay.js';
import { WORKFLOW_RESOURCES } from '../../src/processes/workflow-resources.js';
import { startTestApi, type TestApi } from '../support/api.js';
import { openDatabase, testDatabase } from '../support/database.js';
import { Proxy } from '../support/proxy.js';
import {
  namespaceName,
  sharedAddress,
  temporalEnvironment,
  testTemporal,
} from '../support/temporal.js';
import { type GuardedBank, openGuardedBank, outboxOf } from '../support/temporal-world.js';

const AWAY = { address: '127.0.0.1:1', namespace: 'default' };
/** Far longer than what is not waited for would need to go unseen. */
const SLOW_MS = 50;

const db = await testDatabase();

describe("the relay's result of an entry", () => {
  let api: TestApi;
  let proxy: Proxy;
  let slow: ReturnType<typeof openDatabase>;
  let bank: GuardedBank;

  before(async () => {
    await testTemporal();
    api = await startTestApi(db, temporalEnvironment(AWAY));
    proxy = await Proxy.open(db.url);
    slow = openDatabase(proxy.through(db.url));
    bank = await openGuardedBank(api);
  });

  after(async () => {
    proxy.delayMs = 0;
    await Promise.all([slow.close(), api.stop()]);
    await proxy.close();
  });

  const relayTo = async (
    temporal: { readonly address: string; readonly namespace: string },
    work: (relay: Relay, refused: string[]) => Promise<void>,
  ): Promise<void> => {
    const client = new TemporalClient({ ...temporal, tls: null, apiKey: undefined });
    const refused: string[] = [];
    const relay = new Relay({
      database: db.database,
      outbox: new Outbox(slow, systemClock),
      client,
      resources: WORKFLOW_RESOURCES,
      failpoints: new Failpoints(null),
      lookAgainMs: 3_600_000,
      observer: {
        relayed: () => undefined,
        refused: (_, message) => refused.push(message),
        died: () => undefined,
        unavailable: () => undefined,
      },
    });
    proxy.delayMs = SLOW_MS;
    try {
      await work(relay, refused);
    } finally {
      proxy.delayMs = 0;
      await client.close();
    }
  };
  const pended = async (): Promise<readonly [Uuid, OutboxRow]> => {
    const id = await bank.pend();
    const [row] = await outboxOf(db, id);
    assert(row !== undefined);
    return [id, row];
  };

  it("the relay's result of an entry is stored when it returns: what Temporal refused has its reason, its count and a later time", async () => {
    const rows = [await pended(), await pended()];
    await relayTo(
      { address: sharedAddress(), namespace: namespaceName('nowhere') },
      async (relay, refused) => {
        await relay.relay(rows.map(([, row]) => row));
        assert.equal(refused.length, rows.length);
        for (const [id, before] of rows) {
          const [row] = await outboxOf(db, id);
          assert.equal(row?.attempts, 1);
          assert.match(row.lastError ?? '', /namespace/i);
          assert.notEqual(row.dueAt, before.dueAt);
        }
      },
    );
  });

  it("the relay's result of an entry is stored when it returns: what it did not try because Temporal is away is due at once and counts no attempt", async () => {
    const [id, row] = await pended();
    const outbox = new Outbox(db.database, systemClock);
    assert.equal(await outbox.release({ resourceId: id }), 1);
    const claimed = (await outbox.claim(1_000)).filter((one) => one.resourceId === row.resourceId);
    assert.equal(claimed.length, 1);
    assert((await outboxOf(db, id))[0]!.dueAt > systemClock(), 'it is claimed');
    await relayTo(AWAY, async (relay) => {
      await assert.rejects(relay.relay(claimed), TemporalUnavailable);
      const [again] = await outboxOf(db, id);
      assert.deepEqual(
        [again?.attempts, again?.lastError, again?.dueAt],
        [0, null, again?.createdAt],
      );
    });
  });
});
