import assert from 'node:assert/strict';
import { formatAmount } from '../../src/core/amount.js';
import { type Uuid } from '../../src/core/ids.js';
import { batchWorkflowId } from '../../src/temporal/contracts.js';
import { startTestApi, type TestApi } from '../helpers/api.js';
import { idLiteral, type Json, LEAST, object } from '../helpers/bank.js';
import {
  assertPaidOnce,
  batchEvents,
  openPayrollBank,
  type PayrollBank,
} from '../helpers/batch-workflows.js';
import { testDatabase } from '../helpers/database.js';
import {
  detailsOf,
  serving,
  stateOf,
  temporalEnvironment,
  testTemporal,
  until,
  untilEnded,
  workflowOf,
} from '../helpers/temporal.js';
import { sdkWarnings, startTestWorker, type TestWorker } from '../helpers/temporal-worker.js';
import { actsOn, hire, REASON, type Signature, signatureOf } from '../helpers/temporal-world.js';
import { forgetCodes } from '../helpers/staff.js';

/** Rows enough that a signal comes before the last is paid. */
const MANY = 1_000;

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
    workflowOf(temporal, id, 'bonus_batch').signal<unknown[]>(action, ...input);
  /** Executed while no worker is there, so that what `then` does comes before the first row. */
  async function executing(id: Uuid, then: () => Promise<unknown>): Promise<void> {
    await worker.stop();
    try {
      await payroll.execute(id);
      await until('Temporal was told', async () => {
        const rows = await db.sql(`SELECT id FROM outbox WHERE resource_id=${idLiteral(id)}`);
        return rows.length === 0;
      });
      await then();
    } finally {
      worker = await startTestWorker(db, temporal, { environment: serving('batches') });
    }
  }

  it('validates its file, waits for the execution, pays every row once, and ends', async () => {
    const id = await payroll.ready(5);
    const workflow = workflowOf(temporal, id, 'bonus_batch');
    const { type, workflowId, taskQueue } = await workflow.describe();
    assert.deepEqual([type, workflowId, taskQueue], ['bonusBatch', batchWorkflowId(id), 'batches']);
    await until('it says what it waits for', async () =>
      /^Waiting for/.test(await detailsOf(temporal, id, 'bonus_batch')),
    );
    assert.equal(
      await detailsOf(temporal, id, 'bonus_batch'),
      'Waiting for somebody to execute it: 5 rows.',
    );
    assert.deepEqual(await stateOf(temporal, id, 'bonus_batch'), {
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
    await payroll.execute(id);
    await payroll.until(id, 'completed');
    await untilEnded(temporal, id, 'bonus_batch');
    assert.equal(await assertPaidOnce(db, id, 5), 5);
    assert.deepEqual(await batchEvents(db, id), ['ready', 'completed']);
    const words = 'The batch is completed: 5 of 5 rows paid, 0 failed. Nothing is waited for.';
    assert.equal(await detailsOf(temporal, id, 'bonus_batch'), words);
  });

  it('shows only ids and states: search attributes, summary, and no memo', async () => {
    const id = await payroll.ready(1);
    const described = await until('it is found as ready', async () => {
      const one = await workflowOf(temporal, id, 'bonus_batch').describe();
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

  it('is paused, resumed and canceled by active staff, each recorded with its reason', async () => {
    const ana = await hire(db.database, ['cancel', 'pause']);
    const sign = async (): Promise<Signature> => {
      await forgetCodes(db.change);
      return signatureOf(ana);
    };
    const id = await payroll.ready(MANY);
    const available = await payroll.bank.available(payroll.source);
    await executing(id, async () => signal(id, 'pause', await sign()));
    await until('it is paused', async () => (await stateOf(temporal, id, 'bonus_batch'))?.isPaused);
    const words = await detailsOf(temporal, id, 'bonus_batch');
    assert.match(words, /^Paused \(.*\): \d+ of 1000 rows paid, 0 failed\. Waiting to be resumed/);
    assert(words.includes(REASON));
    const paused = await progress(id);
    assert(Number(paused.pending) > 0);
    await signal(id, 'resume', await sign());
    await until('it goes on', async () => Number((await progress(id)).paid) > Number(paused.paid));
    await signal(id, 'cancel', await sign());
    await payroll.until(id, 'partially_failed');
    await untilEnded(temporal, id, 'bonus_batch');
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

  it('causes no warnings of the SDK except for failed and terminated activities', () => {
    const expected = /activity failed|task not found when completing/i;
    const told = sdkWarnings.slice(warnedBefore).filter((message) => !expected.test(message));
    assert.deepEqual(told, []);
  });
});
