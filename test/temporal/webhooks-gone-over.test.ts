import assert from 'node:assert/strict';
import { NativeConnection, Worker } from '@temporalio/worker';
import { newId } from '../../src/core/ids.js';
import { BUNDLE_FILE } from '../../src/temporal/bundle-file.js';
import { TemporalClient } from '../../src/temporal/client.js';
import { type DrainState, SIGNALS, TASK_QUEUES, webhookWorkflowId } from '../../src/temporal/contracts.js';
import { newNamespace, sharedAddress, type TestTemporal, until } from '../support/temporal.js';
import { installRuntimeOnce } from '../support/temporal-worker.js';

const found: DrainState = {
  ...{ ended: 'idle', status: 'enabled', isPaused: false, waitingFor: 'a retry' },
  nextDueAt: '2999-01-01T00:00:00.000Z',
};

/** On a real Temporal; the activities alone answer from here. */
describe('the workflow of an endpoint from before events were sent without it', () => {
  let temporal: TestTemporal;
  let connection: NativeConnection;
  const calls: string[] = [];

  before(async () => {
    installRuntimeOnce();
    temporal = await newNamespace(sharedAddress(), 'gone_over');
    connection = await NativeConnection.connect({ address: temporal.address });
    const client = new TemporalClient({ ...temporal, tls: null });
    await client.registerSearchAttributes();
    await client.close();
  });
  after(() => connection.close());

  /** A worker that knows these changes of the workflow only. */
  async function working(knows: (patch: string) => boolean, answers: DrainState): Promise<() => Promise<void>> {
    const look = (name: string) => (): DrainState => {
      calls.push(name);
      return answers;
    };
    const worker = await Worker.create({
      ...{ connection, namespace: temporal.namespace, taskQueue: TASK_QUEUES.webhooks },
      workflowBundle: { codePath: BUNDLE_FILE },
      activities: { drainEndpoint: look('drainEndpoint'), attendEndpoint: look('attendEndpoint') },
      patchActivationCallback: ({ patchId }) => knows(patchId),
      maxCachedWorkflows: 0,
      stickyQueueScheduleToStartTimeout: '100 ms',
    });
    const running = worker.run();
    return async () => {
      worker.shutdown();
      await running;
    };
  }

  it('keeps waiting, and continues as a current one when it is told something: the same id, a new run', async () => {
    const endpointId = newId();
    const stopOld = await working(() => false, found);
    const options = { workflowId: webhookWorkflowId(endpointId), taskQueue: TASK_QUEUES.webhooks };
    const first = await temporal.client.workflow.start('webhookEndpoint', { ...options, args: [{ endpointId }] });
    await until('it has looked', () => calls.length === 1);
    await until(
      'it waits',
      async () => (await first.fetchHistory()).events?.at(-1)?.timerStartedEventAttributes instanceof Object,
    );
    await stopOld();
    const stopNew = await working(() => true, { ...found, status: 'deleted', isOver: true });
    const handle = temporal.client.workflow.getHandle(options.workflowId);
    await handle.signal(SIGNALS.changed);
    await until('it has ended', async () => (await handle.describe()).status.name === 'COMPLETED');
    await stopNew();
    assert.deepEqual(calls, ['drainEndpoint', 'drainEndpoint', 'attendEndpoint']);
    const { runId } = await handle.describe();
    assert.notEqual(runId, first.firstExecutionRunId);
  });
});
