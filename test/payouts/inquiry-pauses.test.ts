import assert from 'node:assert/strict';
import {
  payoutWorkflowId,
  type PayoutWorkflowInput,
  TASK_QUEUES,
} from '../../src/temporal/contracts.js';
import { startTestApi, type TestApi } from '../support/api.js';
import { testDatabase } from '../support/database.js';
import { serving, testTemporal, until } from '../support/temporal.js';
import { startTestWorker } from '../support/temporal-worker.js';
import { openPayoutBank } from './support.js';

const db = await testDatabase();
const temporal = await testTemporal();

describe('the pauses between the questions of a workflow to a rail', () => {
  let api: TestApi;

  before(async () => {
    await startTestWorker(db, temporal, {
      environment: serving('payouts'),
      sweeps: false,
    });
    // It has no Temporal: the test starts the workflow, with pauses of its own.
    api = await startTestApi(db);
  });

  it('the pauses between the questions of a workflow to a rail are the shortest, twice that, four times that, and then the longest', async () => {
    const own = await openPayoutBank(api);
    const id = await own.pay('03');
    const tenantId = own.bank.tenant.tenant.id;
    const input: PayoutWorkflowInput = {
      resourceId: id,
      tenantId,
      polling: { firstMs: 50, longestMs: 300 },
      summary: 'A payout',
      lookAgainMs: 3_600_000,
    };
    const handle = await temporal.client.workflow.start('payout', {
      workflowId: payoutWorkflowId(id),
      taskQueue: TASK_QUEUES.payouts,
      args: [input],
    });
    const pauses = async (): Promise<number[]> =>
      ((await handle.fetchHistory()).events ?? []).flatMap(
        ({ timerStartedEventAttributes: timer }) => {
          const { seconds, nanos } = timer?.startToFireTimeout ?? {};
          return timer ? [Number(seconds ?? 0) * 1_000 + (nanos ?? 0) / 1_000_000] : [];
        },
      );
    const found = await until('it has asked six times', async () => {
      const all = await pauses();
      return all.length >= 6 ? all : null;
    });
    assert.deepEqual(found.slice(0, 6), [50, 100, 200, 300, 300, 300]);
    await handle.terminate('of a test');
  });
});
