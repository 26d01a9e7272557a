import assert from 'node:assert/strict';
import { transferWorkflowId } from '../../src/temporal/contracts.js';
import { startTestApi, type TestApi } from '../support/api.js';
import { answered } from '../support/bank.js';
import { testDatabase } from '../support/database.js';
import {
  detailsOf,
  serving,
  stateOf,
  temporalEnvironment,
  testTemporal,
  until,
  untilEnded,
  untilWaiting,
  workflowOf,
  workflowStatus,
} from '../support/temporal.js';
import { startTestWorker, sdkWarnings } from '../support/temporal-worker.js';
import {
  assertEnds,
  assertMonths,
  type GuardedBank,
  newSignature,
  openGuardedBank,
  outboxOf,
  readTransfer,
  REASON,
  sendSignal,
} from '../support/temporal-world.js';

const db = await testDatabase();
const temporal = await testTemporal();

describe('the workflow of a pending transfer', () => {
  let api: TestApi;
  let guarded: GuardedBank;
  let warnedBefore = 0;

  before(async () => {
    warnedBefore = sdkWarnings.length;
    await startTestWorker(db, temporal, { environment: serving('approvals') });
    api = await startTestApi(db, temporalEnvironment(temporal));
    guarded = await openGuardedBank(api);
  });

  after(async () => {
    await assertMonths(db, guarded.source);
  });

  it('the workflow of a pending transfer is started at once under the id of its transfer, and the outbox entry is gone', async () => {
    const id = await guarded.pend();
    const state = await untilWaiting(temporal, id);
    assert.equal(state.status, 'pending_approval');
    const { type, workflowId, taskQueue } = await workflowOf(temporal, id).describe();
    assert.deepEqual(
      [type, workflowId, taskQueue],
      ['transfer', transferWorkflowId(id), 'approvals'],
    );
    assert.deepEqual(
      await until(
        'the outbox has nothing of it',
        async () => (await outboxOf(db, id)).length === 0,
      ),
      true,
    );
  });

  it('the workflow of a pending transfer shows only ids and states: search attributes, summary, details and query', async () => {
    const id = await guarded.pend(123_456n);
    const { expiresAt, ...state } = await untilWaiting(temporal, id);
    const due = (await readTransfer(db, id)).approvalExpiresAt!;
    assert.equal(Date.parse(expiresAt), due);
    const words = `Waiting for 1 of 1 approval; expires ${expiresAt.slice(0, 19).replace('T', ' ')} UTC.`;
    assert.deepEqual(state, {
      status: 'pending_approval',
      required: 1,
      received: 0,
      waitingFor: words,
      lastRefusal: null,
    });
    assert.equal(await detailsOf(temporal, id), words);
    const described = await workflowOf(temporal, id).describe();
    assert.equal(
      await described.staticSummary(),
      'Transfer of 1,234.56 COPM that needs 1 approval',
    );
    assert.deepEqual(described.memo ?? {}, {});
    const attributes = new Map(
      described.typedSearchAttributes.getAll().map(({ key, value }) => [key.name, value]),
    );
    const { tenant } = guarded.bank.tenant;
    assert.deepEqual(
      ['TenantId', 'ResourceId', 'AccountId', 'BusinessStatus', 'Amount'].map((name) =>
        attributes.get(name),
      ),
      [tenant.id, id, guarded.source.id, 'pending_approval', '1,234.56 COPM'],
    );
  });

  it('the workflow of a pending transfer names its activities and its timer in its history', async () => {
    const id = await guarded.pend();
    await untilWaiting(temporal, id);
    const summaries = await until('its timer runs', async () => {
      const { events = [] } = await workflowOf(temporal, id).fetchHistory();
      const found = (events ?? []).flatMap(({ userMetadata }) => {
        const data = userMetadata?.summary?.data;
        return data ? [String(JSON.parse(Buffer.from(data).toString()))] : [];
      });
      return found.at(-1) === 'Regular check for changes' && found;
    });
    assert.ok(summaries.includes('Read the transfer'), summaries.join());
  });

  it('the workflow of a pending transfer is found by its tenant and its business status, which follows its transfer', async () => {
    const own = await openGuardedBank(api);
    const ids = await own.pendMany(2);
    const find = async (status: string): Promise<string[]> => {
      const query = `TenantId="${own.bank.tenant.tenant.id}" AND BusinessStatus="${status}"`;
      const found: string[] = [];
      for await (const { workflowId } of temporal.client.workflow.list({ query }))
        found.push(workflowId);
      return found.sort();
    };
    const [first, second] = ids.map(transferWorkflowId);
    await until('both are found', async () => (await find('pending_approval')).length === 2);
    answered(await own.act('approve', ids[0]!), 200);
    await until(
      'the approved one is found as completed',
      async () => (await find('completed')).join() === first,
    );
    assert.deepEqual(await find('pending_approval'), [second]);
    answered(await own.act('reject', ids[1]!), 200);
    await until(
      'the rejected one is found as rejected',
      async () => (await find('rejected')).join() === second,
    );
  });

  for (const [action, end, status] of [
    ['approve', 'completed', 'completed'],
    ['reject', 'rejected', 'rejected'],
    ['cancel', 'canceled', 'rejected'],
  ] as const) {
    it(`the workflow of a pending transfer ends when the API has settled it: ${action}`, async () => {
      const id = await guarded.pend();
      await untilWaiting(temporal, id);
      assert.equal(answered(await guarded.act(action, id), 200).json.status, status);
      await untilEnded(temporal, id);
      assert.equal(
        (await stateOf(temporal, id))?.waitingFor,
        `The transfer is ${status}. Nothing is waited for.`,
      );
      await assertEnds(db, new Map([[id, end]]));
    });

    it(`the workflow of a pending transfer settles it when active staff signal ${action}, and ends; whoever asks later finds it so`, async () => {
      const id = await guarded.pend();
      await untilWaiting(temporal, id);
      await sendSignal(temporal, id, action, await newSignature(db.database));
      await untilEnded(temporal, id);
      await assertEnds(db, new Map([[id, end]]));
      const { status: found } = (await guarded.bank.get(`/v1/transfers/${id}`)).json;
      assert.equal(found, status);
    });
  }

  it('the workflow of a pending transfer needs two members for two approvals, and hears of each', async () => {
    const own = await openGuardedBank(api, { approvals: 2 });
    const id = await own.pend();
    await untilWaiting(temporal, id);
    answered(await own.act('approve', id, own.approvers[0]), 200);
    await until(
      'the workflow knows of one',
      async () => (await stateOf(temporal, id))?.received === 1,
    );
    answered(await own.act('approve', id, own.approvers[1]), 200);
    await untilEnded(temporal, id);
    await assertEnds(db, new Map([[id, 'completed']]));
  });

  it('the workflow of a pending transfer is told of a signal that comes when all is settled: its workflow is gone', async () => {
    const id = await guarded.pend();
    await untilWaiting(temporal, id);
    answered(await guarded.act('cancel', id), 200);
    await untilEnded(temporal, id);
    await assert.rejects(sendSignal(temporal, id, 'approve', { actor: 'x', reason: REASON }), {
      name: 'WorkflowNotFoundError',
    });
    assert.equal(await workflowStatus(temporal, id), 'COMPLETED');
  });

  it('the workflow of a pending transfer made the SDK warn of nothing', () =>
    assert.deepEqual(sdkWarnings.slice(warnedBefore), []));
});
