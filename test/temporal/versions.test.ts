import assert from 'node:assert/strict';
import type { Uuid } from '../../src/core/ids.js';
import { transferWorkflowId } from '../../src/temporal/contracts.js';
import { startTestApi } from '../helpers/api.js';
import { answered } from '../helpers/bank.js';
import { testDatabase } from '../helpers/database.js';
import {
  newNamespace,
  serving,
  sharedAddress,
  temporalEnvironment,
  until,
  untilEnded,
  untilWaiting,
} from '../helpers/temporal.js';
import { startTestWorker, type TestWorker } from '../helpers/temporal-worker.js';
import { openGuardedBank } from '../helpers/temporal-world.js';
import { assertLedgerSound } from '../helpers/world.js';

const DEPLOYMENT = 'money-movement';

const db = await testDatabase();
const temporal = await newNamespace(sharedAddress(), 'versions');
const api = await startTestApi(db, temporalEnvironment(temporal));
const guarded = await openGuardedBank(api);

describe('workers that report their release to Temporal', () => {
  const workerOf = (buildId: string): Promise<TestWorker> =>
    startTestWorker(db, temporal, {
      environment: {
        ...serving('approvals'),
        TEMPORAL_WORKER_VERSION: `${DEPLOYMENT}.${buildId}`,
      },
    });

  /**
   * Does what docs/operations/upgrade.md tells operators. The server sees a new worker a little later, and its queues see the
   * change later still: a transfer that begins on the release shows that they have. (The deployment's own state of the change
   * stays unfinished now and then.)
   */
  const makeCurrent = async (buildId: string): Promise<void> => {
    const version = { namespace: temporal.namespace, deploymentName: DEPLOYMENT, buildId };
    await until(`${buildId} is current`, () =>
      temporal.client.workflowService.setWorkerDeploymentCurrentVersion(version).then(
        () => true,
        () => false,
      ),
    );
    await until(`what begins, begins on ${buildId}`, async () => {
      const probe = await guarded.createPending();
      await untilWaiting(temporal, probe);
      const begunOn = await buildOf(probe);
      answered(await guarded.act('reject', probe), 200);
      await untilEnded(temporal, probe);
      return begunOn === buildId;
    });
  };

  const buildOf = async (id: Uuid): Promise<string | null | undefined> => {
    const execution = { workflowId: transferWorkflowId(id) };
    const { namespace } = temporal;
    const { workflowExecutionInfo } =
      await temporal.client.workflowService.describeWorkflowExecution({
        ...{ namespace, execution },
      });
    return workflowExecutionInfo?.versioningInfo?.deploymentVersion?.buildId;
  };

  const failedTasks = async (id: Uuid): Promise<number> => {
    const { events } = await temporal.client.workflow
      .getHandle(transferWorkflowId(id))
      .fetchHistory();
    return (events ?? []).filter(
      ({ workflowTaskFailedEventAttributes: failed }) => (failed ?? null) !== null,
    ).length;
  };

  it('waiting workflows move to the release that becomes current, and back, without a failed workflow task', async () => {
    const first = await workerOf('1');
    await makeCurrent('1');
    const [one, other] = await guarded.createManyPending(2);
    for (const id of [one!, other!]) {
      await untilWaiting(temporal, id);
      assert.equal(await buildOf(id), '1');
    }
    const second = await workerOf('2');
    await makeCurrent('2');
    answered(await guarded.act('approve', one!), 200);
    await untilEnded(temporal, one!);
    assert.equal(await buildOf(one!), '2');
    await makeCurrent('1');
    await second.stop();
    answered(await guarded.act('reject', other!), 200);
    await untilEnded(temporal, other!);
    assert.equal(await buildOf(other!), '1');
    assert.deepEqual([await failedTasks(one!), await failedTasks(other!)], [0, 0]);
    await first.stop();
    await assertLedgerSound(db.database);
  });
});
