import assert from 'node:assert/strict';
import { formatAmount } from '../../src/core/amount.js';
import { type Uuid } from '../../src/core/ids.js';
import { batchWorkflowResource } from '../../src/batches/workflow-resource.js';
import { batchWorkflowId } from '../../src/temporal/contracts.js';
import { csvOf } from '../batches/support.js';
import { startTestApi, type TestApi } from '../support/api.js';
import { type Json, LEAST, object } from '../support/bank.js';
import {
  assertPaidOnce,
  batchDetails,
  batchEvents,
  batchState,
  batchWorkflow,
  batchWorkflowStatus,
  openPayrollBank,
  type PayrollBank,
  untilBatchEnded,
} from '../support/batch-workflows.js';
import { testDatabase } from '../support/database.js';
import { serving, temporalEnvironment, testTemporal, until } from '../support/temporal.js';
import { reconcile } from '../support/reconciling.js';
import { sdkWarnings, startTestWorker, type TestWorker } from '../support/temporal-worker.js';
import {
  actsOn,
  hire,
  newSignature,
  REASON,
  type Signature,
  signatureOf,
} from '../support/temporal-world.js';
import { forgetCodes } from '../support/staff.js';

/** Nobody listens there. */
const AWAY = { address: '127.0.0.1:1', namespace: 'default' };
/** So many that a signal comes before the last is paid. */
const MANY = 2_000;

const db = await testDatabase();
const temporal = await testTemporal();

describe('the workflow of a batch', () => {
  let worker: TestWorker;
  let api: TestApi;
  let payroll: PayrollBank;
  let warnedBefore = 0;

  before(async () => {
    warnedBefore = sdkWarnings.length;
    worker = await startTestWorker(db, temporal, { environment: serving('batches') });
    api = await startTestApi(db, temporalEnvironment(temporal));
    payroll = await openPayrollBank(api);
  });

  const progress = async (id: Uuid): Promise<Json> => object((await payroll.read(id)).progress);
  const signal = (id: Uuid, action: string, ...input: readonly unknown[]): Promise<void> =>
    batchWorkflow(temporal, id).signal<unknown[]>(action, ...input);
  /** Executed while no worker is there, so that what `then` does comes before the first row. */
  async function executing(id: Uuid, then: () => Promise<unknown>): Promise<void> {
    await worker.stop();
    try {
      await payroll.execute(id);
      await until('Temporal was told', async () => {
        const rows = await db.sql(
          `SELECT id FROM outbox WHERE resource_id=X'${id.replaceAll('-', '')}'`,
        );
        return rows.length === 0;
      });
      await then();
    } finally {
      worker = await startTestWorker(db, temporal, { environment: serving('batches') });
    }
  }

  it('the workflow of a batch validates a file on its own, and waits for somebody to execute it', async () => {
    const id = await payroll.ready(5);
    const { type, workflowId, taskQueue } = await batchWorkflow(temporal, id).describe();
    assert.deepEqual([type, workflowId, taskQueue], ['bonusBatch', batchWorkflowId(id), 'batches']);
    await until('it says what it waits for', async () =>
      /^Waiting for/.test(await batchDetails(temporal, id)),
    );
    assert.equal(await batchDetails(temporal, id), 'Waiting for somebody to execute it: 5 rows.');
    assert.deepEqual(await batchState(temporal, id), {
      status: 'ready',
      ...{
        amount: formatAmount({ raw: 5n * LEAST, asset: 'COPM' }),
        rows: 5,
        rejected: 0,
        paid: 0,
        failed: 0,
        isPaused: false,
        pauseReason: null,
        rejection: null,
      },
    });
    assert.deepEqual(await batchEvents(db, id), ['ready']);
  });

  it('the workflow of a batch shows only ids and states: search attributes, summary, and no memo', async () => {
    const id = await payroll.ready(1);
    const described = await until('it is found as ready', async () => {
      const one = await batchWorkflow(temporal, id).describe();
      const all = new Map(
        one.typedSearchAttributes.getAll().map(({ key, value }) => [key.name, value]),
      );
      return all.get('BusinessStatus') === 'ready' && { one, all };
    });
    assert.deepEqual(
      ['TenantId', 'ResourceId', 'AccountId', 'Amount'].map((name) => described.all.get(name)),
      [
        ...[payroll.bank.tenant.tenant.id, id, payroll.source.id],
        formatAmount({ raw: LEAST, asset: 'COPM' }),
      ],
    );
    assert.equal(await described.one.staticSummary(), 'Batch of bonuses from a file of 1 KiB');
    assert.deepEqual(described.one.memo ?? {}, {});
  });

  it('the workflow of a batch rejects a file with its errors, and ends', async () => {
    const id = await payroll.upload(
      csvOf([
        ['$nobody', LEAST.toString(), 'COPM', null, null],
        [payroll.people[0]!.id, '1', 'COPM', null, null],
      ]),
    );
    const batch = await payroll.until(id, 'rejected');
    assert.equal(batch.rows_rejected, 2);
    await untilBatchEnded(temporal, id);
    assert.equal(
      await batchDetails(temporal, id),
      'Rejected: 2 of 2 rows have problems. Nothing is waited for.',
    );
    assert.deepEqual(await batchEvents(db, id), ['rejected']);
    const errors = await payroll.bank.get(`/v1/bonus_batches/${id}/files/errors`);
    assert.equal(errors.text.trim().split('\r\n').length, 3);
  });

  it('the workflow of a batch pays every row once it is executed, and ends', async () => {
    const id = await payroll.ready(250);
    await payroll.execute(id);
    await payroll.until(id, 'completed');
    await untilBatchEnded(temporal, id);
    assert.equal(await assertPaidOnce(db, id, 250), 250);
    assert.deepEqual(await batchEvents(db, id), ['ready', 'completed']);
    const words = 'The batch is completed: 250 of 250 rows paid, 0 failed. Nothing is waited for.';
    assert.equal(await batchDetails(temporal, id), words);
    const attributes = (
      await batchWorkflow(temporal, id).describe()
    ).typedSearchAttributes.getAll();
    assert.equal(attributes.find(({ key }) => key.name === 'BusinessStatus')?.value, 'completed');
  });

  it('the workflow of a batch is paused, resumed and canceled by active staff, each recorded with its reason', async () => {
    const ana = await hire(db.database, ['cancel', 'pause']);
    const sign = async (): Promise<Signature> => {
      await forgetCodes(db.change);
      return signatureOf(ana);
    };
    const id = await payroll.ready(MANY);
    const available = await payroll.bank.available(payroll.source);
    await executing(id, async () => signal(id, 'pause', await sign()));
    await until('it is paused', async () => (await batchState(temporal, id))?.isPaused);
    const words = await batchDetails(temporal, id);
    assert.match(words, /^Paused \(.*\): \d+ of 2000 rows paid, 0 failed\. Waiting to be resumed/);
    assert(words.includes(REASON));
    const paused = await progress(id);
    assert(Number(paused.pending) > 0);
    await signal(id, 'resume', await sign());
    await until('it goes on', async () => Number((await progress(id)).paid) > Number(paused.paid));
    await signal(id, 'cancel', await sign());
    await payroll.until(id, 'partially_failed');
    await untilBatchEnded(temporal, id);
    const paid = await assertPaidOnce(db, id, MANY);
    assert(paid < MANY);
    assert.equal(await payroll.bank.available(payroll.source), available - BigInt(paid) * LEAST);
    const acts = await actsOn(db, id);
    assert.deepEqual(
      acts.map(({ channel, actorClaimed, action }) => [channel, actorClaimed, action]),
      ['pause', 'resume', 'cancel'].map((action) => [
        'temporal',
        ana.name,
        `bonus_batch.${action}`,
      ]),
    );
    assert.equal(object(JSON.parse(acts[2]!.details)).reason, REASON);
  });

  it('the workflow of a batch is withdrawn through the API, or by a signal from staff with the right to cancel, and ends', async () => {
    const signature = await newSignature(db.database, ['cancel']);
    const [byApi, bySignal] = [await payroll.ready(2), await payroll.ready(2)];
    assert.equal(
      (await payroll.bank.request('POST', `/v1/bonus_batches/${byApi}/cancel`)).status,
      200,
    );
    await signal(bySignal, 'cancel', signature);
    for (const id of [byApi, bySignal]) {
      const batch = await payroll.until(id, 'rejected');
      assert.deepEqual(batch.rejection, { code: 'withdrawn' });
      await untilBatchEnded(temporal, id);
      assert.equal(
        await batchDetails(temporal, id),
        'Withdrawn before it was executed. Nothing is waited for.',
      );
      assert.deepEqual(await batchEvents(db, id), ['ready', 'rejected']);
    }
    const [act] = await actsOn(db, bySignal);
    assert.deepEqual(
      [act?.channel, act?.actorClaimed, act?.action],
      ['temporal', signature.actor, 'bonus_batch.cancel'],
    );
    assert.equal(object(JSON.parse(act!.details)).reason, REASON);
  });

  it('the workflow of a batch lapses by the sweeper when nobody has executed it in time, and ends', async () => {
    const id = await payroll.ready(1);
    await db.change(
      `UPDATE bonus_batches SET created_at=created_at - INTERVAL 31 DAY, validated_at=validated_at - INTERVAL 31 DAY
       WHERE id=X'${id.replaceAll('-', '')}'`,
    );
    const batch = await payroll.until(id, 'rejected');
    assert.deepEqual(batch.rejection, { code: 'lapsed' });
    await untilBatchEnded(temporal, id);
    assert.match(await batchDetails(temporal, id), /^Lapsed: nobody executed it in time/);
    assert.deepEqual(await batchEvents(db, id), ['ready', 'rejected']);
  });

  it('the workflow of a batch is uploaded and executed while Temporal is away, and goes on when it is back', async () => {
    const cutOff = await startTestApi(db, temporalEnvironment(AWAY));
    try {
      const own = await openPayrollBank(cutOff);
      await worker.stop();
      const id = await own.upload(own.file(10));
      assert.equal((await own.read(id)).status, 'validating');
      worker = await startTestWorker(db, temporal, { environment: serving('batches') });
      await own.until(id, 'ready');
      await worker.stop();
      await own.execute(id);
      assert.equal((await own.read(id)).status, 'executing');
      worker = await startTestWorker(db, temporal, { environment: serving('batches') });
      await own.until(id, 'completed');
      assert.equal(await assertPaidOnce(db, id, 10), 10);
    } finally {
      await cutOff.stop();
    }
  });

  it('the workflow of a batch gets a new workflow after one was terminated by hand', async () => {
    const id = await payroll.ready(3);
    await batchWorkflow(temporal, id).terminate('by a mistake');
    await payroll.execute(id).then(() => payroll.until(id, 'completed'));
    const lost = await payroll.ready(3);
    await batchWorkflow(temporal, lost).terminate('by a mistake');
    await until('it has a workflow again', async () => {
      await reconcile(worker, [batchWorkflowResource]);
      return (await batchWorkflowStatus(temporal, lost)) === 'RUNNING';
    });
    await until('it waits', async () => (await batchState(temporal, lost))?.status === 'ready');
    await payroll.execute(lost);
    await payroll.until(lost, 'completed');
    assert.equal(await assertPaidOnce(db, lost, 3), 3);
  });

  it('the workflow of a batch made the SDK warn of nothing but what was cut off and terminated', () => {
    const expected = /activity failed|task not found when completing/i;
    const told = sdkWarnings.slice(warnedBefore).filter((message) => !expected.test(message));
    assert.deepEqual(told, []);
  });
});
