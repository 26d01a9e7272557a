import assert from 'node:assert/strict';
import type { WorkflowHandle } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import { batchActivities, type BatchActivities } from '../../activities/batches.js';
import type { Uuid } from '../../src/core/ids.js';
import type { Account } from '../../src/db/entities/parties.js';
import { pauseBatch, resumeBatch } from '../../src/batches/control.js';
import { BUNDLE_FILE } from '../../src/temporal/bundle-file.js';
import { type BatchState, QUERIES, SIGNALS } from '../../src/temporal/contracts.js';
import { batchServiceOf, BatchWorld, payroll, resourceOf } from '../batches/support.js';
import { LEAST } from '../support/bank.js';
import { testDatabase } from '../support/database.js';
import { serving, testTemporal, until } from '../support/temporal.js';
import { startTestWorker } from '../support/temporal-worker.js';
import { TEST_ACTOR } from '../support/world.js';
import { signalsOf } from '../support/staff.js';

/** Served here alone: the service's own workers leave these workflows be. */
const QUEUE = 'wake-ups';

/** Holds an activity's answer back, from when it has looked until it is let go. */
class Gate {
  isReached = false;
  private letGo: () => void = () => undefined;
  private readonly opened = new Promise<void>((resolve) => (this.letGo = resolve));

  open(): void {
    this.letGo();
  }

  async hold<T>(answer: T): Promise<T> {
    this.isReached = true;
    await this.opened;
    return answer;
  }
}

const db = await testDatabase();
const temporal = await testTemporal();

describe('a wake-up that arrives while the workflow of a batch is busy', () => {
  let connection: NativeConnection;
  let world: BatchWorld;
  let payer: Account;
  let real: BatchActivities;

  before(async () => {
    // It makes the search attributes.
    await (
      await startTestWorker(db, temporal, { environment: serving('batches'), sweeps: false })
    ).stop();
    connection = await NativeConnection.connect({ address: temporal.address });
  });
  after(() => connection.close());

  beforeEach(async () => {
    world = await BatchWorld.open(db);
    await world.account({ alias: '$ana' });
    payer = await world.account({ funds: { COPM: 10n * LEAST } });
    const work = batchServiceOf(world.deps);
    real = batchActivities(work, signalsOf(db.database), new AbortController().signal);
  });

  async function withWorkflow(
    batchId: Uuid,
    activities: BatchActivities,
    work: (workflow: WorkflowHandle) => Promise<void>,
  ): Promise<void> {
    const { namespace, client } = temporal;
    const workflowBundle = { codePath: BUNDLE_FILE };
    const worker = await Worker.create({
      connection,
      namespace,
      taskQueue: QUEUE,
      workflowBundle,
      activities,
    });
    await worker.runUntil(async () => {
      const workflow = await client.workflow.start('bonusBatch', {
        workflowId: `wake-ups/${batchId}`,
        taskQueue: QUEUE,
        args: [{ batchId }],
      });
      await work(workflow);
      await workflow.result();
    });
    assert.equal((await world.batch(batchId)).status, 'completed');
  }

  /** The wake-up has reached the workflow: a query is answered behind it. */
  async function wake(workflow: WorkflowHandle): Promise<void> {
    await workflow.signal(SIGNALS.changed);
    await workflow.query<BatchState | null>(QUERIES.state);
  }

  const file = payroll([['$ana', LEAST.toString(), 'COPM']]);

  it('a wake-up that arrives while the workflow of a batch is busy reading the batch makes it look again: the batch was executed in between', async () => {
    const batch = await world.ready(payer, file);
    const gate = new Gate();
    let reads = 0;
    const readBatch: BatchActivities['readBatch'] = async (batchId) => {
      const state = await real.readBatch(batchId);
      reads += 1;
      return reads === 2 ? gate.hold(state) : state;
    };
    await withWorkflow(batch.id, { ...real, readBatch }, async (workflow) => {
      await until(
        'it waits',
        async () => (await workflow.query<BatchState | null>(QUERIES.state))?.status === 'ready',
      );
      await workflow.signal(SIGNALS.changed);
      await until('it has read that the batch is ready', () => gate.isReached);
      resourceOf(await world.execute(batch));
      await wake(workflow);
      gate.open();
    });
    assert(reads > 2);
  });

  it('a wake-up that arrives while the workflow of a batch is busy paying makes it look again: the batch was paused, and resumed in between', async () => {
    const batch = await world.ready(payer, file);
    resourceOf(await world.execute(batch));
    await pauseBatch(world.deps, batch.id, TEST_ACTOR, 'ticket 7');
    const gate = new Gate();
    const payBatch: BatchActivities['payBatch'] = async (batchId) => {
      const payment = await real.payBatch(batchId);
      return payment.end === 'paused' ? gate.hold(payment) : payment;
    };
    // What it knows at first is that the batch is executing.
    let reads = 0;
    const readBatch: BatchActivities['readBatch'] = async (batchId) => {
      const state = await real.readBatch(batchId);
      reads += 1;
      return reads === 1 ? { ...state, isPaused: false } : state;
    };
    await withWorkflow(batch.id, { ...real, readBatch, payBatch }, async (workflow) => {
      await until('it has found it paused', () => gate.isReached);
      await resumeBatch(world.deps, batch.id, TEST_ACTOR, 'ticket 7');
      await wake(workflow);
      gate.open();
    });
  });

  it('a wake-up that arrives while the workflow of a batch is busy validating makes it look again: the batch was executed as soon as it was ready', async () => {
    const batch = await world.uploaded(payer, file);
    const gate = new Gate();
    const validateBatch: BatchActivities['validateBatch'] = async (batchId) => {
      await world.validate(batch.id);
      return gate.hold(await real.readBatch(batchId));
    };
    await withWorkflow(batch.id, { ...real, validateBatch }, async (workflow) => {
      await until('it is validated', () => gate.isReached);
      resourceOf(await world.execute(batch));
      await wake(workflow);
      gate.open();
    });
  });
});
