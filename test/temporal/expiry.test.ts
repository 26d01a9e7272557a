import assert from 'node:assert/strict';
import { startTestApi, type TestApi } from '../support/api.js';
import { testDatabase } from '../support/database.js';
import {
  newNamespace,
  serving,
  sharedAddress,
  temporalEnvironment,
  type TestTemporal,
  until,
  untilEnded,
  workflowStatus,
} from '../support/temporal.js';
import { startTestWorker } from '../support/temporal-worker.js';
import {
  assertEnds,
  assertMonths,
  endOf,
  moveExpiry,
  openGuardedBank,
  outboxOf,
  readTransfer,
} from '../support/temporal-world.js';

const AWAY = { address: '127.0.0.1:1', namespace: 'default' };

const db = await testDatabase();

describe('a transfer whose time is over', () => {
  let temporal: TestTemporal;
  let api: TestApi;

  before(async () => {
    // Of its own: no other worker's sweeper may help.
    temporal = await newNamespace(sharedAddress(), 'expiry');
    await (
      await startTestWorker(db, temporal, { environment: serving('approvals'), sweeps: false })
    ).stop();
    api = await startTestApi(db, temporalEnvironment(temporal));
  });

  it("a transfer whose time is over is ended by its workflow's timer if no sweeper runs", async () => {
    const { pend, source } = await openGuardedBank(api);
    const id = await pend();
    await until(
      'it has a workflow',
      async () => (await workflowStatus(temporal, id)) === 'RUNNING',
    );
    await moveExpiry(db, id, Date.now() + 1_000);
    const worker = await startTestWorker(db, temporal, {
      environment: serving('approvals'),
      sweeps: false,
    });
    try {
      await untilEnded(temporal, id);
      await assertEnds(db, new Map([[id, 'expired']]));
      await assertMonths(db, source);
    } finally {
      await worker.stop();
    }
  });

  it('a transfer whose time is over is ended by the sweeper if Temporal is away, and its workflow ends when Temporal is back', async () => {
    const guarded = await openGuardedBank(api);
    const ids = await guarded.pendMany(3);
    for (const id of ids)
      await until(
        'it has a workflow',
        async () => (await workflowStatus(temporal, id)) === 'RUNNING',
      );
    const alone = await startTestWorker(db, AWAY, {
      environment: serving('approvals'),
      polls: false,
    });
    try {
      for (const id of ids) await moveExpiry(db, id, Date.now() + 300);
      for (const id of ids)
        await until('it is expired', async () => endOf(await readTransfer(db, id)) === 'expired');
      assert.equal((await outboxOf(db, ids[0]!)).length, 1);
    } finally {
      await alone.stop();
    }
    await assertEnds(db, new Map(ids.map((id) => [id, 'expired'])));
    const worker = await startTestWorker(db, temporal, { environment: serving('approvals') });
    for (const id of ids) await untilEnded(temporal, id);
    await worker.stop();
  });
});
