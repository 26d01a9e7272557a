import assert from 'node:assert/strict';
import type { Staff } from '../../src/db/entities/staff.js';
import { webhookWorkflowId } from '../../src/temporal/contracts.js';
import type { WorkflowResource } from '../../src/temporal/workflow-resources.js';
import { endpointWorkflowResource } from '../../src/webhooks/endpoint-workflow.js';
import { startTestApi, type TestApi } from '../helpers/api.js';
import { answered } from '../helpers/bank.js';
import { ownDatabase, type TestDatabase } from '../helpers/database.js';
import { HttpReceiver } from '../helpers/http-receiver.js';
import {
  newNamespace,
  serving,
  sharedAddress,
  temporalEnvironment,
  type TestTemporal,
  until,
  workflowOf,
  workflowStatus,
} from '../helpers/temporal.js';
import { reconcile } from '../helpers/reconciling.js';
import { sdkWarnings, startTestWorker, type TestWorker } from '../helpers/temporal-worker.js';
import { actsOn, hire, REASON, type Signature, signatureOf } from '../helpers/temporal-world.js';
import {
  assertGenuine,
  type WebhookBank,
  hookAttributes,
  openWebhookBank,
  parsed,
  readEndpoint,
  signalEndpoint,
  transfersAt,
  untilArrived,
  untilDetails,
  untilWell,
} from '../helpers/webhook-world.js';
import { assertLedgerSound } from '../helpers/world.js';
import { forgetCodes } from '../helpers/staff.js';

/** Tests that need an endpoint which waits. */
const WAITING = 2;

/** The resources of the reconciliation, without other endpoints. */
function onlyThis({ id }: WebhookBank): WorkflowResource {
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
  let failing: WebhookBank[] = [];

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
  const open = (): Promise<WebhookBank> => openWebhookBank(api, receiver);
  const untilDelivered = (own: WebhookBank): Promise<unknown> =>
    until('it is delivered', async () => (await readEndpoint(db, own.id)).lastSuccessAt !== null);
  /** The actions on it, without its own. */
  const actsOf = async ({ id }: WebhookBank): Promise<unknown[]> =>
    (await actsOn(db, id))
      .filter(({ channel }) => channel !== 'api')
      .map(({ channel, actorClaimed, action, details }) => [
        channel,
        actorClaimed,
        action,
        JSON.parse(details),
      ]);

  async function openWaiting(): Promise<WebhookBank> {
    const own = await open();
    await own.send();
    await until('it was tried twice', () => receiver.at(own.path).length === 2);
    await untilDetails(temporal, own.id, /^waiting until .* to retry 1 delivery$/);
    return own;
  }
  /** An endpoint whose one delivery has failed twice: the next attempt is minutes away, and fails too. */
  function waiting(): WebhookBank {
    const own = failing.pop() ?? assert.fail('more tests wait than endpoints were opened');
    receiver.reply = ({ path }) => (path === own.path ? 500 : 200);
    return own;
  }

  it('starts at registration, and is not notified of delivered events', async () => {
    const own = await open();
    await untilWell(temporal, own.id);
    const described = await workflowOf(temporal, own.id, 'webhook_endpoint').describe();
    const { type, workflowId, taskQueue, historyLength } = described;
    assert.equal(await described.staticSummary(), 'Deliveries to a webhook endpoint');
    assert.deepEqual(
      [type, workflowId, taskQueue],
      ['webhookEndpoint', webhookWorkflowId(own.id), 'webhooks'],
    );
    const transfer = await own.send();
    await untilArrived(receiver, own.path, [transfer]);
    await untilDelivered(own);
    const after = await workflowOf(temporal, own.id, 'webhook_endpoint').describe();
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

  it('sends nothing between a pause and a resume by signals, then all waiting events, and keeps running meanwhile', async () => {
    const own = waiting();
    await signalEndpoint(temporal, own.id, 'pause', await sign());
    await untilDetails(temporal, own.id, new RegExp(`^paused by ${ana.name} since`));
    assert.equal((await hookAttributes(temporal, own.id))[3], 'paused');
    assert.equal(await reconcile(worker, [onlyThis(own)]), 0);
    receiver.reply = () => 200;
    const transfers = await own.sendMany(3);
    await signalEndpoint(temporal, own.id, 'retry_now', await sign());
    await until('that is recorded', async () => (await actsOf(own)).length === 2);
    assert.equal((await readEndpoint(db, own.id)).pausedBy, ana.name);
    assert.equal(receiver.at(own.path).length, 2);
    assert.equal(await workflowStatus(temporal, own.id, 'webhook_endpoint'), 'RUNNING');
    await signalEndpoint(temporal, own.id, 'resume', await sign());
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

  it('lets attempts in flight end at a pause, and sends each event once', async () => {
    const own = await open();
    let answer = (_: number): void => undefined;
    receiver.reply = ({ path }) =>
      path === own.path ? new Promise((resolve) => (answer = resolve)) : 200;
    await own.send();
    await until('it is on its way', () => receiver.at(own.path).length === 1);
    await signalEndpoint(temporal, own.id, 'pause', { actor: 'Mallory', reason: REASON });
    await untilDetails(temporal, own.id, /Refused at .*Mallory is not active/s);
    await signalEndpoint(temporal, own.id, 'pause', await sign());
    await until('it is paused', async () => (await readEndpoint(db, own.id)).pausedAt !== null);
    await signalEndpoint(temporal, own.id, 'resume', await sign());
    answer(200);
    await untilDelivered(own);
    assert.equal(receiver.at(own.path).length, 1);
  });

  it('a canceled workflow of a webhook endpoint is started again by the next notification', async () => {
    const own = waiting();
    await workflowOf(temporal, own.id, 'webhook_endpoint').cancel();
    await until(
      'it is canceled',
      async () => (await workflowStatus(temporal, own.id, 'webhook_endpoint')) === 'CANCELLED',
    );
    receiver.reply = () => 200;
    await untilArrived(receiver, own.path, [await own.send()]);
    const body = { status: 'disabled' };
    answered(await own.bank.request('PATCH', `/v1/webhook_endpoints/${own.id}`, { body }), 200);
    await untilDetails(temporal, own.id, /^disabled by its tenant/);
    assert.equal(await workflowStatus(temporal, own.id, 'webhook_endpoint'), 'RUNNING');
  });

  it('causes no warning of the SDK', () => assert.deepEqual(sdkWarnings.slice(warnedBefore), []));
});
