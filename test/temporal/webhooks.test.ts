import assert from 'node:assert/strict';
import type { Staff } from '../../src/db/entities/staff.js';
import { webhookWorkflowId } from '../../src/temporal/contracts.js';
import type { WorkflowResource } from '../../src/temporal/workflow-resources.js';
import { endpointWorkflowResource } from '../../src/webhooks/endpoint-workflow.js';
import { startTestApi, type TestApi } from '../support/api.js';
import { answered } from '../support/bank.js';
import { ownDatabase, type TestDatabase } from '../support/database.js';
import { HttpReceiver } from '../support/http-receiver.js';
import {
  newNamespace,
  serving,
  sharedAddress,
  temporalEnvironment,
  type TestTemporal,
  until,
} from '../support/temporal.js';
import { reconcile } from '../support/reconciling.js';
import { sdkWarnings, startTestWorker, type TestWorker } from '../support/temporal-worker.js';
import { actsOn, hire, REASON, type Signature, signatureOf } from '../support/temporal-world.js';
import {
  assertGenuine,
  type HookedBank,
  hookAttributes,
  hookDetails,
  hookState,
  hookStatus,
  hookWorkflow,
  openHookedBank,
  parsed,
  readHook,
  signalHook,
  transfersAt,
  untilArrived,
  untilDetails,
  untilHookEnded,
  untilWell,
} from '../support/webhook-world.js';
import { assertLedgerSound } from '../support/world.js';
import { forgetCodes } from '../support/staff.js';

/** Tests that need an endpoint which waits. */
const WAITING = 5;

/** The resources of the reconciliation, without other endpoints. */
function onlyThis({ id }: HookedBank): WorkflowResource {
  return {
    ...endpointWorkflowResource,
    listWaiting: async (...asked) =>
      (await endpointWorkflowResource.listWaiting(...asked)).filter((row) => row.id === id),
  };
}

describe('the workflow of a webhook endpoint', () => {
  let db: TestDatabase;
  let temporal: TestTemporal;
  let worker: TestWorker;
  let api: TestApi;
  let receiver: HttpReceiver;
  let ana: Staff;
  let warnedBefore = 0;
  let failing: HookedBank[] = [];

  before(async () => {
    db = await ownDatabase('hook_flow');
    temporal = await newNamespace(sharedAddress(), 'hooks');
    warnedBefore = sdkWarnings.length;
    // No sweeper: what its workflow knows it was told at once.
    worker = await startTestWorker(db, temporal, {
      // Nothing is sent again while a receiver holds its answer back.
      attemptTimeoutMs: 60_000,
      environment: serving('webhooks'),
      sweeps: false,
    });
    api = await startTestApi(db, temporalEnvironment(temporal), { receiver: 'real' });
    receiver = await new HttpReceiver().open();
    ana = await hire(db.database);
    receiver.reply = () => 500;
    // All at once: the second attempt comes five seconds after the first.
    failing = await Promise.all(Array.from({ length: WAITING }, openWaiting));
  });
  beforeEach(() => {
    receiver.reply = () => 200;
  });
  after(async () => {
    await assertLedgerSound(db.database);
    await receiver.close();
    await db.remove();
  });

  const sign = async (): Promise<Signature> => {
    await forgetCodes(db.change);
    return signatureOf(ana);
  };
  const open = (): Promise<HookedBank> => openHookedBank(api, receiver);
  const statusOf = async ({ id, bank }: HookedBank): Promise<unknown[]> => {
    const { status, disabled_reason: reason } = answered(
      await bank.get(`/v1/webhook_endpoints/${id}`),
      200,
    ).json;
    return [status, reason];
  };
  const untilDelivered = (own: HookedBank): Promise<unknown> =>
    until('it is delivered', async () => (await readHook(db, own.id)).lastSuccessAt !== null);
  /** What was done to it, without its own doings. */
  const actsOf = async ({ id }: HookedBank): Promise<unknown[]> =>
    (await actsOn(db, id))
      .filter(({ channel }) => channel !== 'api')
      .map(({ channel, actorClaimed, action, details }) => [
        channel,
        actorClaimed,
        action,
        JSON.parse(details),
      ]);

  async function openWaiting(): Promise<HookedBank> {
    const own = await open();
    await own.send();
    await until('it was tried twice', () => receiver.at(own.path).length === 2);
    await untilDetails(temporal, own.id, /^waiting until .* to retry 1 delivery$/);
    return own;
  }
  /** An endpoint whose one delivery has failed twice: the next attempt is minutes away, and fails too. */
  function waiting(): HookedBank {
    const own = failing.pop() ?? assert.fail('more tests wait than endpoints were opened');
    receiver.reply = ({ path }) => (path === own.path ? 500 : 200);
    return own;
  }

  it('the workflow of a webhook endpoint exists from registration, and hears nothing of events that arrive, signed, as they stand in the log', async () => {
    const own = await open();
    await untilWell(temporal, own.id);
    const { type, workflowId, taskQueue, historyLength } = await hookWorkflow(
      temporal,
      own.id,
    ).describe();
    assert.deepEqual(
      [type, workflowId, taskQueue],
      ['webhookEndpoint', webhookWorkflowId(own.id), 'webhooks'],
    );
    const transfer = await own.send();
    await untilArrived(receiver, own.path, [transfer]);
    await untilDelivered(own);
    const after = await hookWorkflow(temporal, own.id).describe();
    assert.deepEqual([after.status.name, after.historyLength], ['RUNNING', historyLength]);
    const [{ body, headers }] = receiver.at(own.path) as [(typeof receiver.arrived)[0]];
    assert.deepEqual(
      [parsed(body).type, parsed(body).id],
      ['transfer.completed', headers['webhook-id']],
    );
    assert.match(String(headers['webhook-signature']), /^v1,/);
    await assertGenuine(receiver, own);
    assert.equal(receiver.at(own.path).length, 1);
  });

  it('the workflow of a webhook endpoint is found by its tenant, its endpoint and its status, and holds nothing but ids and states', async () => {
    const own = waiting();
    const { tenant } = own.bank.tenant;
    assert.deepEqual(await hookAttributes(temporal, own.id), [
      tenant.id,
      own.id,
      undefined,
      'enabled',
    ]);
    const described = await hookWorkflow(temporal, own.id).describe();
    assert.equal(await described.staticSummary(), 'Deliveries to a webhook endpoint');
    const state = await hookState(temporal, own.id);
    assert.deepEqual([state?.status, state?.isPaused], ['enabled', false]);
    const query = `TenantId="${tenant.id}" AND BusinessStatus="enabled"`;
    await until(
      'it is found',
      async () => (await temporal.client.workflow.count(query)).count === 1,
    );
  });

  it('the workflow of a webhook endpoint repeats an attempt that was answered 500, with the same id and bytes, and says what it is waiting for', async () => {
    const own = waiting();
    const said = await hookDetails(temporal, own.id);
    await signalHook(temporal, own.id, 'retry_now', await sign());
    await until('it was tried at once', () => receiver.at(own.path).length === 3);
    receiver.reply = () => 200;
    await until(
      'it says until when it waits now',
      async () => (await hookDetails(temporal, own.id)) !== said,
    );
    await untilDetails(temporal, own.id, /^waiting until .* to retry 1 delivery$/);
    await signalHook(temporal, own.id, 'retry_now', await sign());
    // Its workflow waits for nothing as soon as a sender has it on its way.
    await until('it was tried at once again', () => receiver.at(own.path).length === 4);
    await untilWell(temporal, own.id);
    const all = receiver.at(own.path);
    assert.deepEqual(
      [
        all.length,
        new Set(all.map(({ id }) => id)).size,
        new Set(all.map(({ body }) => body)).size,
      ],
      [4, 1, 1],
    );
    await assertGenuine(receiver, own);
    const act = ['temporal', ana.name, 'webhook.retry_now', { reason: REASON }];
    assert.deepEqual(await actsOf(own), [act, act]);
  });

  it('the workflow of a webhook endpoint is told when its endpoint begins to fail and when it is well again, and of no event in between', async () => {
    const own = await open();
    await untilWell(temporal, own.id);
    const signals = async (): Promise<number> => {
      const { events } = await hookWorkflow(temporal, own.id).fetchHistory();
      return (events ?? []).filter(
        ({ workflowExecutionSignaledEventAttributes: signal }) => signal instanceof Object,
      ).length;
    };
    const before = await signals();
    receiver.reply = ({ path }) => (path === own.path ? 500 : 200);
    const first = await own.send();
    await untilDetails(temporal, own.id, /^waiting until .* to retry 1 delivery$/);
    receiver.reply = () => 200;
    const others = await own.sendMany(5);
    await untilArrived(receiver, own.path, [first, ...others]);
    await untilWell(temporal, own.id);
    // That it begins; its own look finds that it is over.
    assert((await signals()) - before <= 2);
    assert.equal(new Set(transfersAt(receiver, own.path)).size, 6);
  });

  it('the workflow of a webhook endpoint sends nothing between a pause and a resume by signals, then all that waited, and exists all the while', async () => {
    const own = waiting();
    await signalHook(temporal, own.id, 'pause', await sign());
    await untilDetails(temporal, own.id, new RegExp(`^paused by ${ana.name} since`));
    assert.equal((await hookAttributes(temporal, own.id))[3], 'paused');
    assert.equal(await reconcile(worker, [onlyThis(own)]), 0);
    receiver.reply = () => 200;
    const transfers = await own.sendMany(3);
    await signalHook(temporal, own.id, 'retry_now', await sign());
    await until('that is recorded', async () => (await actsOf(own)).length === 2);
    assert.equal((await readHook(db, own.id)).pausedBy, ana.name);
    assert.equal(receiver.at(own.path).length, 2);
    assert.equal(await hookStatus(temporal, own.id), 'RUNNING');
    await signalHook(temporal, own.id, 'resume', await sign());
    await untilArrived(receiver, own.path, transfers);
    await untilWell(temporal, own.id);
    assert.equal(new Set(transfersAt(receiver, own.path)).size, 4);
    assert.equal((await hookAttributes(temporal, own.id))[3], 'enabled');
    const acts = ['pause', 'retry_now', 'resume'].map((act) => [
      'temporal',
      ana.name,
      `webhook.${act}`,
      { reason: REASON },
    ]);
    assert.deepEqual(await actsOf(own), acts);
  });

  it('the workflow of a webhook endpoint records what is on its way when it is paused, and sends it once', async () => {
    const own = await open();
    let answer = (_: number): void => undefined;
    receiver.reply = ({ path }) =>
      path === own.path ? new Promise((resolve) => (answer = resolve)) : 200;
    await own.send();
    await until('it is on its way', () => receiver.at(own.path).length === 1);
    await signalHook(temporal, own.id, 'pause', { actor: 'Mallory', reason: REASON });
    await untilDetails(temporal, own.id, /Refused at .*Mallory is not active/s);
    await signalHook(temporal, own.id, 'pause', await sign());
    await until('it is paused', async () => (await readHook(db, own.id)).pausedAt !== null);
    await signalHook(temporal, own.id, 'resume', await sign());
    answer(200);
    await untilDelivered(own);
    assert.equal(receiver.at(own.path).length, 1);
  });

  it('the workflow of a webhook endpoint recovers what came while the receiver was down', async () => {
    const own = await open();
    const since = new Date(Date.now() - 1_000).toISOString();
    await receiver.close();
    const missed = await own.sendMany(3);
    await untilDetails(temporal, own.id, /^waiting until .* to retry 3 deliveries/);
    const failed = async (): Promise<number> =>
      Number(
        (
          await db.sql(
            `SELECT COUNT(*) AS n FROM webhook_attempts WHERE failure IS NOT NULL AND endpoint_id=X'${own.id.replaceAll('-', '')}'`,
          )
        )[0]!.n,
      );
    await until('each was tried twice', async () => (await failed()) >= 5);
    await receiver.open();
    answered(
      await own.bank.request('POST', `/v1/webhook_endpoints/${own.id}/recover`, {
        body: { since },
      }),
      202,
    );
    await untilArrived(receiver, own.path, missed);
    await untilWell(temporal, own.id);
    await assertGenuine(receiver, own);
  });

  it('the workflow of a webhook endpoint says that its endpoint is disabled when the receiver answers 410, and is well when it is enabled again', async () => {
    const own = await open();
    receiver.reply = ({ path }) => (path === own.path ? 410 : 200);
    const transfer = await own.send();
    await until(
      'it is disabled',
      async () => (await statusOf(own)).join() === 'disabled,answered_410',
    );
    await untilDetails(temporal, own.id, /^disabled because its receiver answered 410 Gone since/);
    assert.equal((await hookAttributes(temporal, own.id))[3], 'disabled');
    const later = await own.send();
    receiver.reply = () => 200;
    const body = { status: 'enabled' };
    answered(await own.bank.request('PATCH', `/v1/webhook_endpoints/${own.id}`, { body }), 200);
    await untilArrived(receiver, own.path, [transfer, later]);
    await until('both are delivered', async () => {
      const { items } = answered(
        await own.bank.get(`/v1/webhook_endpoints/${own.id}/deliveries`),
        200,
      ).json;
      return (
        (items as { status: string }[]).filter(({ status }) => status === 'delivered').length === 2
      );
    });
    await untilWell(temporal, own.id);
  });

  it('the workflow of a webhook endpoint ends when its paused endpoint is deleted', async () => {
    const own = waiting();
    await signalHook(temporal, own.id, 'pause', await sign());
    await untilDetails(temporal, own.id, /^paused/);
    assert.equal((await own.bank.request('DELETE', `/v1/webhook_endpoints/${own.id}`)).status, 204);
    await untilHookEnded(temporal, own.id);
    assert.equal(await hookDetails(temporal, own.id), 'deleted');
  });

  it('the workflow of a webhook endpoint ends when canceled by hand, and the next thing it must be told starts it again', async () => {
    const own = waiting();
    await hookWorkflow(temporal, own.id).cancel();
    await until('it is canceled', async () => (await hookStatus(temporal, own.id)) === 'CANCELLED');
    receiver.reply = () => 200;
    await untilArrived(receiver, own.path, [await own.send()]);
    const body = { status: 'disabled' };
    answered(await own.bank.request('PATCH', `/v1/webhook_endpoints/${own.id}`, { body }), 200);
    await untilDetails(temporal, own.id, /^disabled by its tenant/);
    assert.equal(await hookStatus(temporal, own.id), 'RUNNING');
  });

  it('the workflow of a webhook endpoint made the SDK warn of nothing', () =>
    assert.deepEqual(sdkWarnings.slice(warnedBefore), []));
});
