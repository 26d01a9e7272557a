import assert from 'node:assert/strict';
import { transferWorkflowId } from '../../src/temporal/contracts.js';
import { startTestApi, type TestApi } from '../helpers/api.js';
import { answered } from '../helpers/bank.js';
import { testDatabase } from '../helpers/database.js';
import {
  detailsOf,
  serving,
  temporalEnvironment,
  testTemporal,
  until,
  untilWaiting,
  workflowOf,
} from '../helpers/temporal.js';
import { startTestWorker, sdkWarnings } from '../helpers/temporal-worker.js';
import {
  assertMonths,
  type GuardedBank,
  openGuardedBank,
  outboxOf,
  readTransfer,
} from '../helpers/temporal-world.js';

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

  it("is started at once under the transfer's id, and the outbox entry is removed", async () => {
    const id = await guarded.createPending();
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

  it('shows only ids and states: search attributes, summary, details and query', async () => {
    const id = await guarded.createPending(123_456n);
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

  it('is found by its tenant and its business status, which follows its transfer', async () => {
    const own = await openGuardedBank(api);
    const ids = await own.createManyPending(2);
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

  it('causes no warning of the SDK', () => assert.deepEqual(sdkWarnings.slice(warnedBefore), []));
});
