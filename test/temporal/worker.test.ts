import assert from 'node:assert/strict';
import type { WorkflowExecutionDescription, WorkflowHandle } from '@temporalio/client';
import { defineSearchAttributeKey } from '@temporalio/common';
import type { Uuid } from '../../src/core/ids.js';
import { startTestApi, type TestApi } from '../support/api.js';
import { batchWorkflow, openPayrollBank, untilBatchEnded } from '../support/batch-workflows.js';
import { testDatabase } from '../support/database.js';
import { PrivateTemporal } from '../support/private-temporal.js';
import {
  detailsOf,
  newNamespace,
  serving,
  sharedAddress,
  stateOf,
  temporalEnvironment,
  type TestTemporal,
  until,
  untilEnded,
  untilWaiting,
  workflowOf,
} from '../support/temporal.js';
import { startTestWorker } from '../support/temporal-worker.js';
import {
  actsOn,
  assertEnds,
  newSignature,
  openGuardedBank,
  readTransfer,
  REASON,
  sendSignal,
} from '../support/temporal-world.js';
import { WorkerProcess } from '../support/worker-process.js';

function attributesOf({ typedSearchAttributes }: WorkflowExecutionDescription): unknown {
  return ['TenantId', 'ResourceId', 'AccountId', 'BusinessStatus'].map((name) =>
    typedSearchAttributes.get(defineSearchAttributeKey(name, 'KEYWORD')),
  );
}

async function currentDetails(workflow: WorkflowHandle): Promise<string> {
  const { currentDetails: details = '' } = await workflow.query<{
    readonly currentDetails?: string;
  }>('__temporal_workflow_metadata');
  return details;
}

/** Nothing is to be done for it: what the last signal has set off is over. */
async function untilIdle(workflow: WorkflowHandle): Promise<void> {
  await until('it is idle', async () => {
    const { raw } = await workflow.describe();
    return (raw.pendingActivities ?? []).length === 0 && !raw.pendingWorkflowTask;
  });
}

const HANDED_ON =
  /^Transfer of .* that needs 1 approval\n\nWaiting for 1 of 1 approval; expires .*\n\nRefused at .*: cancel by Mallory: Mallory is not active staff\.$/;

const db = await testDatabase();

describe('the worker', () => {
  it('the worker registers the search attributes that a namespace lacks, and leaves those that it has', async () => {
    const temporal = await newNamespace(sharedAddress(), 'fresh');
    const { operatorService } = temporal.client.connection;
    const known = async (): Promise<string[]> => {
      const { customAttributes } = await operatorService.listSearchAttributes({
        namespace: temporal.namespace,
      });
      return Object.keys(customAttributes).filter((name) =>
        /^(TenantId|ResourceId|AccountId|BusinessStatus|Amount)$/.test(name),
      );
    };
    assert.deepEqual(await known(), []);
    const worker = await startTestWorker(db, temporal, { environment: serving('approvals') });
    assert.deepEqual((await known()).sort(), [
      'AccountId',
      'Amount',
      'BusinessStatus',
      'ResourceId',
      'TenantId',
    ]);
    assert.deepEqual(await worker.bridge.client.registerSearchAttributes(), []);
    await worker.stop();
    await (await startTestWorker(db, temporal, { environment: serving('approvals') })).stop();
  });

  it('the worker finishes what is running when told to stop, and the next one continues: nothing is lost, nothing done twice', async () => {
    const temporal = await newNamespace(sharedAddress(), 'stopping');
    const worker = await WorkerProcess.start(db.url, temporal, serving('approvals'));
    const api = await startTestApi(db, temporalEnvironment(temporal));
    try {
      const guarded = await openGuardedBank(api);
      const ids = await guarded.pendMany(8);
      for (const id of ids) await untilWaiting(temporal, id);
      const bad = { actor: 'Mallory', reason: REASON };
      for (const id of ids) await sendSignal(temporal, id, 'approve', bad);
      for (const id of ids)
        await sendSignal(temporal, id, 'approve', await newSignature(db.database));
      assert.equal(await worker.stop(), 0);
      await worker.start();
      for (const id of ids) await untilEnded(temporal, id);
      await assertEnds(db, new Map(ids.map((id) => [id, 'completed'])));
      for (const id of ids)
        assert.deepEqual(
          (await actsOn(db, id)).map(({ action }) => action),
          ['transfer.approve_refused', 'transfer.approve'],
        );
    } finally {
      await Promise.all([worker.kill(), api.stop()]);
    }
  });

  describe('on a server that suggests continuing as new early', () => {
    let server: PrivateTemporal;
    let temporal: TestTemporal;
    let api: TestApi;

    before(async () => {
      server = await PrivateTemporal.start({ 'limit.historyCount.suggestContinueAsNew': 60 });
      ({ temporal } = server);
      api = await startTestApi(db, temporalEnvironment(temporal));
    });

    after(async () => {
      await server.remove();
    });

    it('a worker on a server that suggests continuing as new early hands on to the next run what it is about and why the last signal changed nothing, of a transfer and of a batch', async () => {
      const worker = await startTestWorker(db, temporal, {
        environment: serving('approvals', 'batches'),
      });
      try {
        const { pend } = await openGuardedBank(api);
        const payroll = await openPayrollBank(api);
        const [transfer, batch] = [await pend(), await payroll.ready(1)];
        for (const [workflow, what] of [
          [workflowOf(temporal, transfer), 'Transfer of '],
          [batchWorkflow(temporal, batch), 'Batch of bonuses from a file of 1 KiB'],
        ] as const) {
          const { runId } = await workflow.describe();
          const details = (): Promise<string> => currentDetails(workflow);
          let signals = 0;
          while ((await workflow.describe()).runId === runId) {
            signals += 1;
            await workflow.signal('cancel', { actor: `Mallory ${signals}`, reason: REASON });
            await until('its refusal is shown', async () =>
              (await details()).includes(`Mallory ${signals} is not active`),
            );
            await untilIdle(workflow);
          }
          // A run that has only begun says nothing yet.
          await until('the next run says what it is about', async () => (await details()) !== '');
          assert.match(
            await details(),
            new RegExp(`^${what}.*\\n\\nWaiting .*\\n\\nRefused at .*Mallory ${signals} is not`),
          );
        }
        assert.equal(
          (await payroll.bank.request('POST', `/v1/bonus_batches/${batch}/cancel`)).status,
          200,
        );
        await untilBatchEnded(temporal, batch);
      } finally {
        await worker.stop();
      }
    });

    it('a worker on a server that suggests continuing as new early continues a flooded workflow as new: every signal is handled once, and observers see no difference', async () => {
      const worker = await startTestWorker(db, temporal, { environment: serving('approvals') });
      try {
        const { pend } = await openGuardedBank(api);
        const id = await pend();
        await untilWaiting(temporal, id);
        const first = await workflowOf(temporal, id).describe();
        for (let wave = 0; wave < 3; wave += 1) {
          await Promise.all(
            Array.from({ length: 20 }, () =>
              sendSignal(temporal, id, 'cancel', { actor: 'Mallory', reason: REASON }),
            ),
          );
          await until(
            `wave ${wave} is done`,
            async () => (await actsOn(db, id)).length === 20 * (wave + 1),
          );
        }
        await until(
          'it was continued',
          async () => (await workflowOf(temporal, id).describe()).runId !== first.runId,
        );
        await until(
          'it waits again',
          async () => (await stateOf(temporal, id))?.status === 'pending_approval',
        );
        const now = await workflowOf(temporal, id).describe();
        assert.deepEqual(attributesOf(now), attributesOf(first));
        // The static summary is not carried over, since the SDK has no option for it: the details begin with its words.
        // A run that has just begun has none yet.
        await until('its details are handed on', async () =>
          HANDED_ON.test((await detailsOf(temporal, id)) ?? ''),
        );
        await sendSignal(temporal, id, 'approve', await newSignature(db.database));
        await untilEnded(temporal, id);
        await assertEnds(db, new Map<Uuid, string>([[id, 'completed']]));
        assert.equal((await actsOn(db, id)).length, 61);
        assert.equal((await readTransfer(db, id)).status, 'completed');
      } finally {
        await worker.stop();
      }
    });
  });
});
