import assert from 'node:assert/strict';
import type { WorkflowExecutionDescription } from '@temporalio/client';
import { defineSearchAttributeKey } from '@temporalio/common';
import type { Uuid } from '../../src/core/ids.js';
import { startTestApi, type TestApi } from '../helpers/api.js';
import { testDatabase } from '../helpers/database.js';
import { PrivateTemporal } from '../helpers/private-temporal.js';
import {
  detailsOf,
  serving,
  stateOf,
  temporalEnvironment,
  type TestTemporal,
  until,
  untilEnded,
  untilWaiting,
  workflowOf,
} from '../helpers/temporal.js';
import { startTestWorker } from '../helpers/temporal-worker.js';
import {
  actsOn,
  assertEnds,
  newSignature,
  openGuardedBank,
  readTransfer,
  REASON,
  sendSignal,
} from '../helpers/temporal-world.js';

function attributesOf({ typedSearchAttributes }: WorkflowExecutionDescription): unknown {
  return ['TenantId', 'ResourceId', 'AccountId', 'BusinessStatus'].map((name) =>
    typedSearchAttributes.get(defineSearchAttributeKey(name, 'KEYWORD')),
  );
}

const HANDED_ON =
  /^Transfer of .* that needs 1 approval\n\nWaiting for 1 of 1 approval; expires .*\n\nRefused at .*: cancel by Mallory: Mallory is not active staff\.$/;

const db = await testDatabase();

describe('a worker on a server that suggests continuing as new early', () => {
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

  it('continues a flooded workflow as new: every signal is handled once, and observers see no difference', async () => {
    const worker = await startTestWorker(db, temporal, { environment: serving('approvals') });
    try {
      const { createPending } = await openGuardedBank(api);
      const id = await createPending();
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
        HANDED_ON.test(await detailsOf(temporal, id)),
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
