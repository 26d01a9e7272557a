import assert from 'node:assert/strict';
import type { Uuid } from '../../src/core/ids.js';
import { instant, systemClock } from '../../src/core/instant.js';
import { TemporalClient } from '../../src/temporal/client.js';
import { MAX_TRIES, Outbox } from '../../src/temporal/outbox.js';
import { Relay } from '../../src/temporal/relay.js';
import type { WorkflowResource } from '../../src/temporal/workflow-resources.js';
import { transferWorkflowResource } from '../../src/transfers/approval-outcomes.js';
import { startTestApi, type TestApi } from '../helpers/api.js';
import { testDatabase } from '../helpers/database.js';
import {
  temporalEnvironment,
  type TestTemporal,
  testTemporal,
  workflowStatus,
} from '../helpers/temporal.js';
import { type GuardedBank, openGuardedBank, outboxOf } from '../helpers/temporal-world.js';

const AWAY = { address: '127.0.0.1:1', namespace: 'default' };

const db = await testDatabase();
const temporal = await testTemporal();

describe('an entry of the outbox that cannot be relayed', () => {
  let api: TestApi;
  let bank: GuardedBank;
  let outbox: Outbox;
  let client: TemporalClient;

  before(async () => {
    api = await startTestApi(db, temporalEnvironment(AWAY));
    bank = await openGuardedBank(api);
    outbox = new Outbox(db.database, systemClock);
    client = clientTo(temporal);
    await client.registerSearchAttributes();
  });

  after(async () => {
    await Promise.all([client.close(), api.stop()]);
  });
  afterEach(() => db.sql('DELETE FROM outbox'));

  const clientTo = ({
    address,
    namespace,
  }: Pick<TestTemporal, 'address' | 'namespace'>): TemporalClient =>
    new TemporalClient({ address, namespace, tls: null, apiKey: undefined });
  const relayOver = (resource: WorkflowResource, own = client) => {
    const seen = { relayed: 0, refused: [] as string[], died: [] as string[] };
    const relay = new Relay({
      ...{
        database: db.database,
        outbox,
        client: own,
        resources: [resource],
      },
      lookAgainMs: 3_600_000,
      observer: {
        relayed: (_, entries) => void (seen.relayed += entries),
        refused: (_, message) => void seen.refused.push(message),
        died: (_, message) => void seen.died.push(message),
        unavailable: (message) => assert.fail(message),
      },
    });
    return { relay, seen };
  };
  /** As if their pauses were over. */
  const claimAll = async (): Promise<Awaited<ReturnType<Outbox['claim']>>> => {
    await db.sql('UPDATE outbox SET due_at=created_at WHERE dead_at IS NULL');
    return outbox.claim(1_000);
  };
  /** Temporal takes no id of more than a thousand letters: what it refuses it refuses always. */
  const refusedFor = (poisoned: Uuid): WorkflowResource => ({
    ...transferWorkflowResource,
    readWaiting: async (reader, ids) => {
      const found = await transferWorkflowResource.readWaiting(reader, ids);
      return new Map(
        Array.from(found, ([id, one]) => [
          id,
          id === poisoned ? { ...one, workflowId: 'x'.repeat(2_000) } : one,
        ]),
      );
    },
  });

  it('an entry of the outbox that cannot be relayed affects no other entry if its resource cannot be read', async () => {
    const [unreadable, ...others] = (await bank.pendMany(3)) as [Uuid, ...Uuid[]];
    const { relay, seen } = relayOver({
      ...transferWorkflowResource,
      readWaiting: (reader, ids) => {
        if (ids.includes(unreadable)) throw new TypeError('unexpected value later');
        return transferWorkflowResource.readWaiting(reader, ids);
      },
    });
    await relay.relay(await claimAll());
    assert.deepEqual([seen.relayed, seen.refused], [others.length, ['unexpected value later']]);
    const [row] = await outboxOf(db, unreadable);
    assert.deepEqual([row?.attempts, row?.lastError], [1, 'unexpected value later']);
  });

  it('an outbox entry that cannot be relayed becomes a dead letter, which is not retried until an operator releases it', async () => {
    const [poisoned, other] = (await bank.pendMany(2)) as [Uuid, Uuid];
    const { relay, seen } = relayOver(refusedFor(poisoned));
    for (let tries = 0; tries < MAX_TRIES; tries += 1) await relay.relay(await claimAll());
    assert.deepEqual([seen.relayed, seen.refused.length, seen.died.length], [1, MAX_TRIES - 1, 1]);
    assert.equal(await workflowStatus(temporal, other), 'RUNNING');
    const [dead] = await outboxOf(db, poisoned);
    assert(
      dead?.deadAt !== null && dead !== undefined && dead.dueAt > instant(Date.UTC(9000, 0, 1)),
    );
    assert.deepEqual(await outbox.depth(), { entries: 0, oldestAt: null, deadLetters: 1 });
    assert.equal((await claimAll()).length, 0);
    assert.equal(await outbox.release({ onlyDead: true }), 1);
    const mended = relayOver(transferWorkflowResource);
    await mended.relay.relay(await outbox.claim(10));
    assert.equal(mended.seen.relayed, 1);
    assert.equal(await workflowStatus(temporal, poisoned), 'RUNNING');
  });
});
