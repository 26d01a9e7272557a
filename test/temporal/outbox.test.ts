import assert from 'node:assert/strict';
import type { Uuid } from '../../src/core/ids.js';
import { outbox as outboxTable, type OutboxRow } from '../../src/db/entities/outbox.js';
import { insertSql } from '../../src/db/statements.js';
import { transferWorkflowResource } from '../../src/transfers/approval-outcomes.js';
import { startTestApi, type TestApi } from '../helpers/api.js';
import { answered, idLiteral } from '../helpers/bank.js';
import { testDatabase } from '../helpers/database.js';
import {
  connectTemporal,
  namespaceName,
  registerNamespace,
  serving,
  sharedAddress,
  temporalEnvironment,
  testTemporal,
  until,
  untilEnded,
  untilWaiting,
  workflowOf,
  workflowStatus,
} from '../helpers/temporal.js';
import { reconcile } from '../helpers/reconciling.js';
import { startTestWorker, type TestWorker } from '../helpers/temporal-worker.js';
import {
  assertEnds,
  endOf,
  type GuardedBank,
  type MemberAct,
  moveExpiry,
  newSignature,
  openGuardedBank,
  outboxOf,
  outboxRow,
  readTransfer,
  sendSignal,
} from '../helpers/temporal-world.js';

/** No server listens there. */
const AWAY = { address: '127.0.0.1:1', namespace: 'default' };

const db = await testDatabase();
const temporal = await testTemporal();

describe('the outbox', () => {
  let worker: TestWorker;
  let api: TestApi;
  /** The process cannot reach Temporal: its entries are left for the sweeper. */
  let cutOff: TestApi;

  before(async () => {
    worker = await startTestWorker(db, temporal, { environment: serving('approvals') });
    api = await startTestApi(db, temporalEnvironment(temporal));
    cutOff = await startTestApi(db, temporalEnvironment(AWAY));
  });

  const isEmpty = async (id: Uuid): Promise<boolean> => (await outboxOf(db, id)).length === 0;
  const write = (rows: readonly OutboxRow[]): Promise<void> =>
    db.database.withTransaction(async (transaction) => {
      await transaction.execute(insertSql(outboxTable, rows));
    });
  const bankOf = (own: TestApi): Promise<GuardedBank> => openGuardedBank(own);

  it('keeps an entry that the API could not relay; the response is still 202, and the sweeper relays it', async () => {
    await worker.stop();
    const { createManyPending } = await bankOf(cutOff);
    const ids = await createManyPending(5);
    for (const id of ids) {
      const [row] = await outboxOf(db, id);
      assert.deepEqual([row?.resourceType, row?.attempts, row?.lastError], ['transfer', 0, null]);
      assert.equal(await workflowStatus(temporal, id), undefined);
    }
    worker = await startTestWorker(db, temporal, { environment: serving('approvals') });
    for (const id of ids) {
      await untilWaiting(temporal, id);
      await until('its entry is gone', () => isEmpty(id));
    }
  });

  it('drops an entry whose resource has ended, without starting a workflow', async () => {
    await worker.stop();
    const guarded = await bankOf(cutOff);
    const [approved, canceled] = (await guarded.createManyPending(2)) as [Uuid, Uuid];
    answered(await guarded.act('approve', approved), 200);
    answered(await guarded.act('cancel', canceled), 200);
    assert.deepEqual(
      [(await outboxOf(db, approved)).length, (await outboxOf(db, canceled)).length],
      [2, 2],
    );
    worker = await startTestWorker(db, temporal, { environment: serving('approvals') });
    for (const id of [approved, canceled]) {
      await until('its entries are gone', () => isEmpty(id));
      assert.equal(await workflowStatus(temporal, id), undefined);
    }
  });

  it('outbox entries may be relayed twice, late and in any order: the transfer has one workflow and one end', async () => {
    const guarded = await bankOf(api);
    const ids = await guarded.createManyPending(4);
    const rows = await Promise.all(ids.map((id) => readTransfer(db, id)));
    const twice = (): Promise<void> =>
      write(rows.flatMap((row) => [outboxRow(row), outboxRow(row), outboxRow(row, 200)]).reverse());
    await twice();
    for (const id of ids) await untilWaiting(temporal, id);
    const runs = await Promise.all(
      ids.map(async (id) => (await workflowOf(temporal, id).describe()).runId),
    );
    await twice();
    for (const id of ids) await until('its entries are gone', () => isEmpty(id));
    assert.deepEqual(
      await Promise.all(ids.map(async (id) => (await workflowOf(temporal, id).describe()).runId)),
      runs,
    );
    for (const id of ids) answered(await guarded.act('approve', id), 200);
    for (const id of ids) await untilEnded(temporal, id);
    await twice();
    for (const id of ids) await until('its entries are gone', () => isEmpty(id));
    assert.deepEqual(
      await Promise.all(ids.map(async (id) => (await workflowOf(temporal, id).describe()).runId)),
      runs,
    );
    await assertEnds(db, new Map(ids.map((id) => [id, 'completed'])));
  });

  it('retries an entry that Temporal refuses at growing intervals, with the reason, until it is accepted', async () => {
    const late = connectTemporal(sharedAddress(), namespaceName('late'));
    const own = await startTestApi(db, temporalEnvironment(AWAY));
    const refused = await startTestWorker(db, late, {
      environment: serving('approvals'),
      polls: false,
    });
    // The other worker's sweeper must not have it.
    await worker.stop();
    try {
      const id = await (await bankOf(own)).createPending();
      const row = await until('it is refused', async () =>
        (await outboxOf(db, id)).find((one) => one.attempts > 0),
      );
      assert.match(row.lastError!, /namespace/i);
      assert(row.dueAt - Date.now() <= 1_000 * 2 ** row.attempts);
      const metrics = await (await fetch(`${refused.adminUrl}/metrics`)).text();
      assert.match(metrics, /outbox_refused_total\{resource_type="transfer"\} [1-9]/);
      assert.match(metrics, /^outbox_entries [1-9]/m);
      await registerNamespace(late);
      await refused.core.client.registerSearchAttributes();
      await untilWaiting(late, id);
      await until('its entry is gone', () => isEmpty(id));
    } finally {
      await refused.stop();
      await own.stop();
      worker = await startTestWorker(db, temporal, { environment: serving('approvals') });
    }
  });

  it('an expired transfer is ended by the sweeper while Temporal is unavailable, which the worker reports; its workflow ends when Temporal is back', async () => {
    const guarded = await bankOf(api);
    const ids = await guarded.createManyPending(3);
    for (const id of ids) await untilWaiting(temporal, id);
    await worker.stop();
    const environment = serving('approvals');
    const alone = await startTestWorker(db, AWAY, { environment, polls: false });
    try {
      for (const id of ids) await moveExpiry(db, id, Date.now() + 300);
      for (const id of ids)
        await until('it is expired', async () => endOf(await readTransfer(db, id)) === 'expired');
      const [row] = await outboxOf(db, ids[0]!);
      assert.equal(row?.deadAt, null);
      assert.equal((await fetch(`${alone.adminUrl}/readyz`)).status, 503);
      assert.equal((await fetch(`${alone.adminUrl}/livez`)).status, 200);
      const metrics = await (await fetch(`${alone.adminUrl}/metrics`)).text();
      assert.match(metrics, /^outbox_entries [1-9]/m);
    } finally {
      await alone.stop();
      worker = await startTestWorker(db, temporal, { environment });
    }
    for (const id of ids) await untilEnded(temporal, id);
    await assertEnds(db, new Map(ids.map((id) => [id, 'expired'])));
  });

  describe('without an entry for a waiting resource', () => {
    const sweepOf = (own: TestWorker): Promise<number> =>
      reconcile(own, [transferWorkflowResource]);

    /** Acts in a process that cannot reach Temporal, and loses the entry. */
    const actUnseen = async (action: MemberAct, id: Uuid, token: string): Promise<void> => {
      await worker.stop();
      answered(await cutOff.request('POST', `/v1/transfers/${id}/${action}`, { token }), 200);
      await db.sql(`DELETE FROM outbox WHERE resource_id=${idLiteral(id)}`);
      worker = await startTestWorker(db, temporal, { environment: serving('approvals') });
    };

    it('a waiting resource without an outbox entry continues after the workflow was terminated by hand', async () => {
      const guarded = await bankOf(api);
      const [lost, kept] = (await guarded.createManyPending(2)) as [Uuid, Uuid];
      for (const id of [lost, kept]) await untilWaiting(temporal, id);
      const { runId } = await workflowOf(temporal, kept).describe();
      await workflowOf(temporal, lost).terminate('by a mistake');
      await until('it has a workflow again', async () => {
        await sweepOf(worker);
        return (await workflowStatus(temporal, lost)) === 'RUNNING';
      });
      await untilWaiting(temporal, lost);
      assert.equal((await workflowOf(temporal, kept).describe()).runId, runId);
      await sendSignal(temporal, lost, 'approve', await newSignature(db.database));
      await untilEnded(temporal, lost);
      assert.equal(endOf(await readTransfer(db, lost)), 'completed');
    });

    it('a waiting resource without an outbox entry is read again by every workflow after a restore, even if its status is the same', async () => {
      const guarded = await openGuardedBank(api, { approvals: 2 });
      const id = await guarded.createPending();
      await untilWaiting(temporal, id);
      await actUnseen('approve', id, guarded.approvers[0]);
      assert.equal((await untilWaiting(temporal, id)).received, 0);
      await db.sql(
        `INSERT INTO restores (id, noticed_by, reason, began_at, finished_at)
         VALUES (UNHEX(REPLACE(UUID(),'-','')), 'operator', 'a test', NOW(3), NOW(3))`,
      );
      await sweepOf(worker);
      await until('it has read it', async () => (await untilWaiting(temporal, id)).received === 1);
      const rows = await db.database.reader.query(
        'SELECT 1 FROM restores WHERE workflows_notified_at IS NULL',
      );
      assert.equal(rows.length, 0);
    });
  });
});
