import assert from 'node:assert/strict';
import type { WorkflowClientInterceptor } from '@temporalio/client';
import { newId, type Uuid } from '../../src/core/ids.js';
import { instant, systemClock } from '../../src/core/instant.js';
import { TemporalClient } from '../../src/temporal/client.js';
import { MAX_TRIES, Outbox } from '../../src/temporal/outbox.js';
import { Relay } from '../../src/temporal/relay.js';
import type { WorkflowResource } from '../../src/temporal/workflow-resources.js';
import { transferWorkflowResource } from '../../src/transfers/approval-outcomes.js';
import { startTestApi } from '../helpers/api.js';
import { idLiteral, text } from '../helpers/bank.js';
import { testDatabase } from '../helpers/database.js';
import { reconcile } from '../helpers/reconciling.js';
import {
  temporalEnvironment,
  type TestTemporal,
  testTemporal,
  workflowStatus,
} from '../helpers/temporal.js';
import { openGuardedBank, outboxOf } from '../helpers/temporal-world.js';

const AWAY = { address: '127.0.0.1:1', namespace: 'default' };

const db = await testDatabase();
const temporal = await testTemporal();
const clientTo = (
  { address, namespace }: Pick<TestTemporal, 'address' | 'namespace'>,
  interceptors: readonly WorkflowClientInterceptor[] = [],
): TemporalClient =>
  new TemporalClient({ address, namespace, tls: null, apiKey: undefined }, interceptors);
const api = await startTestApi(db, temporalEnvironment(AWAY));
const bank = await openGuardedBank(api);
const outbox = new Outbox(db.database, systemClock);
const client = clientTo(temporal);
await client.registerSearchAttributes();

describe('an entry of the outbox that cannot be relayed', () => {
  after(async () => {
    await Promise.all([client.close(), api.stop()]);
  });
  afterEach(() => db.sql('DELETE FROM outbox'));

  const relayOver = (resource: WorkflowResource, own = client) => {
    const seen = {
      relayed: 0,
      refused: [] as string[],
      died: [] as string[],
      unavailable: [] as string[],
    };
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
        unavailable: (message) => void seen.unavailable.push(message),
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

  it('affects no other entry if its resource cannot be read', async () => {
    const [unreadable, ...others] = (await bank.createManyPending(3)) as [Uuid, ...Uuid[]];
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

  /** Temporal's client, for which calls about these resources fail as those of a busy workflow do. */
  const busyFor = (busy: readonly string[]): TemporalClient => {
    const failIfBusy = (workflowId = ''): void => {
      if (busy.some((id) => workflowId.endsWith(id)))
        throw Object.assign(new Error('busy'), { code: 8, details: 'busy', metadata: {} });
    };
    const interceptor: WorkflowClientInterceptor = {
      signalWithStart: (input, next) => (failIfBusy(input.options.workflowId), next(input)),
      signal: (input, next) => (failIfBusy(input.workflowExecution.workflowId), next(input)),
      describe: (input, next) => (failIfBusy(input.workflowExecution.workflowId), next(input)),
    };
    return clientTo(temporal, [interceptor]);
  };

  it('an outbox entry of a busy workflow is postponed alone, and never becomes a dead letter', async () => {
    const [first, second, ...others] = (await bank.createManyPending(4)) as [Uuid, Uuid, ...Uuid[]];
    const own = busyFor([first, second]);
    const { relay, seen } = relayOver(transferWorkflowResource, own);
    for (let tries = 0; tries <= MAX_TRIES; tries += 1)
      assert.equal(await relay.relay(await claimAll()), false);
    await own.close();
    assert.deepEqual([seen.relayed, seen.refused, seen.died], [others.length, [], []]);
    assert.deepEqual(new Set(seen.unavailable), new Set(['busy']));
    const [row] = await outboxOf(db, first);
    assert(row !== undefined && row.dueAt - Date.now() <= 4_000);
    assert.deepEqual([row.deadAt, row.lastError], [null, 'busy']);
  });

  it('Temporal is away once the calls for several workflows fail and none succeeds: further outbox entries are left for the next round', async () => {
    const ids = await bank.createManyPending(40);
    const own = busyFor(ids);
    const { relay, seen } = relayOver(transferWorkflowResource, own);
    assert.equal(await relay.relay(await claimAll()), true);
    await own.close();
    const rows = (await Promise.all(ids.map((id) => outboxOf(db, id)))).flat();
    const tried = rows.filter(({ attempts }) => attempts > 0).length;
    assert(tried >= 3 && tried < ids.length, `${tried} were tried`);
    assert.deepEqual([seen.unavailable, seen.relayed], [['busy'], 0]);
    const { relay: mended } = relayOver(transferWorkflowResource);
    assert.equal(await mended.relay(await outbox.claim(100)), false);
    assert.equal((await outbox.depth()).entries, tried, 'those that were not tried are due');
  });

  it('an outbox entry of a type that only a later release knows stops no other entry', async () => {
    const [later, other] = (await bank.createManyPending(2)) as [Uuid, Uuid];
    const [column] = await db.sql(
      `SELECT COLUMN_TYPE AS type FROM information_schema.COLUMNS
       WHERE TABLE_SCHEMA=DATABASE() AND TABLE_NAME='outbox' AND COLUMN_NAME='resource_type'`,
    );
    const types = text(column?.type);
    const setTypes = (all: string) =>
      db.sql(`ALTER TABLE outbox MODIFY resource_type ${all} NOT NULL`);
    await setTypes(types.replace(')', ",'loan')"));
    try {
      await db.change(
        `UPDATE outbox SET resource_type='loan' WHERE resource_id=${idLiteral(later)}`,
      );
      const { relay, seen } = relayOver(transferWorkflowResource);
      await relay.relay(await claimAll());
      assert.deepEqual([seen.relayed, seen.refused], [1, ['the type loan has no workflow']]);
      assert.equal(await workflowStatus(temporal, other), 'RUNNING');
      assert.equal((await outbox.list({}, 10))[0]?.resourceType, 'loan');
    } finally {
      await db.sql('DELETE FROM outbox');
      await setTypes(types);
    }
  });

  it('the reconciliation passes over workflows that fail, reports them, and leaves their resources to the outbox', async () => {
    const ids = await bank.createManyPending(6);
    await db.sql('DELETE FROM outbox');
    const [first, second, ...others] = ids as [Uuid, Uuid, ...Uuid[]];
    const own = busyFor([first, second]);
    const parts = { core: { database: db.database, outbox, client: own } };
    await assert.rejects(reconcile(parts, [transferWorkflowResource]), AggregateError);
    await own.close();
    for (const id of ids) assert.equal((await outboxOf(db, id)).length, 1, id);
    await relayOver(transferWorkflowResource).relay.relay(await claimAll());
    for (const id of [first, ...others])
      assert.equal(await workflowStatus(temporal, id), 'RUNNING');
  });

  it('an outbox entry that cannot be relayed becomes a dead letter, which is not retried until an operator releases it', async () => {
    const [poisoned, other] = (await bank.createManyPending(2)) as [Uuid, Uuid];
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

  it('the few entries of a tenant are claimed beside the many older ones of another', async () => {
    const [many, few] = [newId(), newId()];
    const entries = (tenantId: Uuid, count: number) =>
      Array.from({ length: count }, () => {
        return { tenantId, resourceType: 'payout', resourceId: newId() } as const;
      });
    await outbox.add(entries(many, 50));
    await outbox.add(entries(few, 2));
    const claimed = await outbox.claim(10);
    assert.deepEqual(
      [many, few].map((id) => claimed.filter(({ tenantId }) => tenantId === id).length),
      [8, 2],
    );
  });
});
