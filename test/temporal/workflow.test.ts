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
  actsOn,
  approvalsOf,
  assertEnds,
  assertMonths,
  endOf,
  type GuardedBank,
  hire,
  moveExpiry,
  newSignature,
  openGuardedBank,
  outboxOf,
  readTransfer,
  REASON,
  sendSignal,
  signatureOf,
} from '../support/temporal-world.js';
import { forgetCodes, proven } from '../support/staff.js';

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

    it(`the workflow of a pending transfer leaves the same audit row by a signal as by an operator's command: ${action}`, async () => {
      const ana = await hire(db.database);
      const [bySignal, byCommand] = await guarded.pendMany(2);
      await untilWaiting(temporal, bySignal!);
      await sendSignal(temporal, bySignal!, action, signatureOf(ana));
      await untilEnded(temporal, bySignal!);
      const transfer = await readTransfer(db, byCommand!);
      const answer = await approvalsOf(db).performByStaff(transfer, action, proven(ana), REASON);
      assert(answer.outcome.done);
      const [signaled, commanded] = [await actsOn(db, bySignal!), await actsOn(db, byCommand!)];
      const comparable = signaled.map(
        ({ action: did, actorClaimed, details, tenantId, subjectType }) => ({
          ...{ did, actorClaimed, details, tenantId, subjectType },
        }),
      );
      assert.deepEqual(
        comparable,
        commanded.map(({ action: did, actorClaimed, details, tenantId, subjectType }) => ({
          ...{ did, actorClaimed, details, tenantId, subjectType },
        })),
      );
      assert.deepEqual(
        [...signaled, ...commanded].map(({ channel, action: did }) => [channel, did]),
        [
          ['temporal', `transfer.${action}`],
          ['ops', `transfer.${action}`],
        ],
      );
      assert.equal(JSON.parse(signaled[0]!.details).reason, REASON);
    });
  }

  it('the workflow of a pending transfer needs a member and the staff for two approvals, and counts the staff once, whoever of them', async () => {
    const [ana, eva] = [await hire(db.database), await hire(db.database)];
    const own = await openGuardedBank(api, { approvals: 2 });
    const id = await own.pend();
    await untilWaiting(temporal, id);
    await sendSignal(temporal, id, 'approve', signatureOf(ana));
    await until('one is counted', async () => (await stateOf(temporal, id))?.received === 1);
    assert.match((await detailsOf(temporal, id))!, /^Waiting for 1 of 2 approval/);
    for (const person of [ana, eva]) {
      await forgetCodes(db.change);
      await sendSignal(temporal, id, 'approve', signatureOf(person));
      const words = `approve by ${person.name}: support has approved it already, and counts once.`;
      await until('who signaled is told', async () =>
        (await detailsOf(temporal, id))?.endsWith(words),
      );
    }
    const transfer = await readTransfer(db, id);
    assert(
      !(await approvalsOf(db).performByStaff(transfer, 'approve', proven(eva), REASON)).outcome
        .done,
    );
    assert.deepEqual(
      (await actsOn(db, id)).map(({ action, actorClaimed }) => [action, actorClaimed]).sort(),
      [
        ['transfer.approve', ana.name],
        ['transfer.approve_refused', ana.name],
        ['transfer.approve_refused', eva.name],
        ['transfer.approve_refused', eva.name],
      ].sort(),
    );
    const approval = async (): Promise<unknown> =>
      (await own.bank.get(`/v1/transfers/${id}`)).json.approval;
    assert.deepEqual(
      [(await approval()) as { received: number }].map(({ received }) => received),
      [1],
    );
    answered(await own.act('approve', id, own.approvers[1]), 200);
    await untilEnded(temporal, id);
    await assertEnds(db, new Map([[id, 'completed']]));
    assert.equal(await own.bank.available(own.target), 100_000n);
  });

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

  it('the workflow of a pending transfer ends when its time is over, settled by whoever notices first', async () => {
    const own = await openGuardedBank(api);
    const id = await own.pend();
    await untilWaiting(temporal, id);
    const available = await own.bank.available(own.source);
    await moveExpiry(db, id, Date.now() + 500);
    await untilEnded(temporal, id);
    await assertEnds(db, new Map([[id, 'expired']]));
    assert.equal(await own.bank.available(own.source), available + 100_000n);
  });

  it('the workflow of a pending transfer rejects by the rule that the last approval breaks: what was verified and active may no longer be', async () => {
    const own = await openGuardedBank(api);
    const id = await own.pend();
    await untilWaiting(temporal, id);
    await db.change(
      `UPDATE accounts SET status='frozen' WHERE id=X'${own.source.id.replaceAll('-', '')}'`,
    );
    await sendSignal(temporal, id, 'approve', await newSignature(db.database));
    await untilEnded(temporal, id);
    assert.equal(endOf(await readTransfer(db, id)), 'capability_cannot_send');
    await assertEnds(db, new Map([[id, 'capability_cannot_send']]));
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
