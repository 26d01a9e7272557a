import assert from 'node:assert/strict';
import { defineSearchAttributeKey } from '@temporalio/common';
import { scheduleWorkflowResource } from '../../../src/transfers/schedules/run.js';
import { actAsStaff } from '../../../src/transfers/schedules/actions.js';
import { asUuid } from '../../../src/core/ids.js';
import { startTestApi, type TestApi } from '../../helpers/api.js';
import { answered, type Bank, object, openBank, text } from '../../helpers/bank.js';
import { testDatabase } from '../../helpers/database.js';
import { reconcile } from '../../helpers/reconciling.js';
import { proven } from '../../helpers/staff.js';
import {
  temporalEnvironment,
  testTemporal,
  until,
  serving,
  workflowOf,
} from '../../helpers/temporal.js';
import { startTestWorker, type TestWorker } from '../../helpers/temporal-worker.js';
import { hire, newSignature, REASON } from '../../helpers/temporal-world.js';
import { makeDue, scheduled, transfersOf, untilShown } from './support.js';

const db = await testDatabase();
const temporal = await testTemporal();
const UNREACHABLE = { TEMPORAL_ADDRESS: '127.0.0.1:1' };

describe('the workflow of a schedule', () => {
  let api: TestApi;
  let worker: TestWorker;
  let bank: Bank;

  before(async () => {
    worker = await startTestWorker(db, temporal, { environment: serving('approvals') });
    api = await startTestApi(db, temporalEnvironment(temporal));
    bank = await openBank(api);
  });

  const statusOf = async (id: string): Promise<unknown> => {
    const { typedSearchAttributes } = await workflowOf(temporal, id, 'schedule').describe();
    return typedSearchAttributes.get(defineSearchAttributeKey('BusinessStatus', 'KEYWORD'));
  };
  const runsOf = async (id: string): Promise<unknown[]> =>
    (await transfersOf(bank, id)).map(({ schedule }) => object(schedule).run);

  it('shows the next run and the result of the last, and ends with it', async () => {
    const id = text((await scheduled(bank, { max_runs: 3 })).id);
    await untilShown(temporal, id, /Waiting for run 1, due 20.* UTC\.$/);
    assert.equal(await statusOf(id), 'active');
    await makeDue(db, id, 9);
    await workflowOf(temporal, id, 'schedule').signal('changed');
    await untilShown(
      temporal,
      id,
      /The schedule is completed\. Run 3: transfer .* is completed\.$/,
    );
    await workflowOf(temporal, id, 'schedule').result();
    assert.deepEqual(await runsOf(id), [1, 2, 3]);
  });

  it('is paused by signal, and goes on when it is resumed at the support desk', async () => {
    const id = text((await scheduled(bank)).id);
    await untilShown(temporal, id, /Waiting for run 1/);
    await workflowOf(temporal, id, 'schedule').signal('pause', await newSignature(db.database));
    await untilShown(temporal, id, /The schedule is paused/);
    assert.equal(await statusOf(id), 'paused');
    const keeper = proven(await hire(db.database), 'support');
    await actAsStaff(api.core, asUuid(id), 'resume', keeper, REASON);
    await untilShown(temporal, id, /Waiting for run 1/);
    answered(await bank.request('POST', `/v1/schedules/${id}/cancel`), 200);
    await workflowOf(temporal, id, 'schedule').result();
  });

  it('is started again by the reconciliation, and runs what is due', async () => {
    const id = text((await scheduled(bank, { max_runs: 3 })).id);
    await untilShown(temporal, id, /Waiting for run 1/);
    await workflowOf(temporal, id, 'schedule').terminate('lost');
    await makeDue(db, id, 9);
    await until('it is found', async () => {
      await reconcile(worker, [scheduleWorkflowResource]);
      return (await runsOf(id)).length === 3;
    });
  });

  it('is notified by the reconciliation of a run that it has not executed', async () => {
    const id = text((await scheduled(bank, { max_runs: 2 })).id);
    await untilShown(temporal, id, /Waiting for run 1/);
    await makeDue(db, id, 1.5);
    assert.equal(await runsOf(id).then(({ length }) => length), 0);
    await reconcile(worker, [scheduleWorkflowResource]);
    await until('it runs', async () => (await runsOf(id)).length === 1);
    answered(await bank.request('POST', `/v1/schedules/${id}/cancel`), 200);
  });

  it('begins when Temporal is back, and runs late what was due meanwhile', async () => {
    const away = await startTestApi(db, UNREACHABLE);
    const own = await openBank(away);
    const id = text((await scheduled(own, { max_runs: 3 })).id);
    await makeDue(db, id, 9);
    await until('it has run', async () => {
      const { json } = answered(await own.get(`/v1/schedules/${id}`), 200);
      return json.status === 'completed' && json.runs === 3;
    });
  });
});
