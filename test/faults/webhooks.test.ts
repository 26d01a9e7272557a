import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { hangingEndpoints } from '../campaigns/hanging-endpoints.js';
import { startTestApi } from '../support/api.js';
import { ownDatabase, type TestDatabase } from '../support/database.js';
import { HttpReceiver } from '../support/http-receiver.js';
import { PrivateTemporal } from '../support/private-temporal.js';
import {
  newNamespace,
  serving,
  sharedAddress,
  temporalEnvironment,
  until,
} from '../support/temporal.js';
import { startTestWorker } from '../support/temporal-worker.js';
import {
  assertGenuine,
  hookDetails,
  hookWorkflow,
  openHookedBank,
  readHook,
  transfersAt,
  untilArrived,
  untilDetails,
} from '../support/webhook-world.js';
import { assertLedgerSound } from '../support/world.js';
import { WorkerProcess } from '../support/worker-process.js';

describe('webhooks under faults', () => {
  let db: TestDatabase;
  let receiver: HttpReceiver;

  beforeEach(async () => {
    db = await ownDatabase('hook_faults');
    receiver = await new HttpReceiver().open();
  });
  afterEach(async () => {
    await receiver.close();
    await db.remove();
  });

  it('webhooks under faults reach other tenants while endpoints hang', async () => {
    const temporal = await newNamespace(sharedAddress(), 'hook_hangs');
    const counts = { endpoints: 20, tenants: 4, others: 2, warmUp: 5, transfers: 5 };
    await hangingEndpoints({ db, temporal, ...counts, isTimed: false });
  });

  it('webhooks under faults go on with the next worker when one is stopped in the middle: nothing is lost, nothing sent twice', async () => {
    const temporal = await newNamespace(sharedAddress(), 'hook_stop');
    const worker = await WorkerProcess.start(db.url, temporal, serving('webhooks'));
    const api = await startTestApi(db, temporalEnvironment(temporal), { receiver: 'real' });
    try {
      const own = await openHookedBank(api, receiver);
      let stop = (): void => undefined;
      const stopping = new Promise<void>((resolve) => (stop = resolve));
      receiver.reply = () => (receiver.at(own.path).length > 10 ? stopping.then(() => 200) : 200);
      const transfers = await own.sendMany(60);
      await until('some have arrived', () => receiver.at(own.path).length > 10);
      const stopped = worker.stop();
      await sleep(100);
      stop();
      assert.equal(await stopped, 0);
      assert(receiver.at(own.path).length < 60, 'it was stopped too late');
      await worker.start();
      await untilArrived(receiver, own.path, transfers);
      await until('all are stored', async () => (await readHook(db, own.id)).leaseUntil === null);
      assert.equal(transfersAt(receiver, own.path).length, 60);
      await assertGenuine(receiver, own);
      await assertLedgerSound(db.database);
    } finally {
      await worker.kill();
      await api.stop();
    }
  });

  it('webhooks under faults arrive while Temporal is away, retries included; their workflow catches up when it is back, and continues as new when its history grows', async () => {
    const server = await PrivateTemporal.start({ 'limit.historyCount.suggestContinueAsNew': 40 });
    const { temporal } = server;
    const worker = await startTestWorker(db, temporal, { environment: serving('webhooks') });
    const api = await startTestApi(db, temporalEnvironment(temporal), { receiver: 'real' });
    try {
      const own = await openHookedBank(api, receiver);
      await untilArrived(receiver, own.path, [await own.send()]);
      await server.kill();
      const transfers = await own.sendMany(10);
      await untilArrived(receiver, own.path, transfers);
      let fails = 1;
      receiver.reply = () => ((fails -= 1) >= 0 ? 500 : 200);
      const retried = await own.send();
      await until(
        'it is retried',
        () => transfersAt(receiver, own.path).filter((id) => id === retried).length === 2,
      );
      await assertGenuine(receiver, own);
      receiver.reply = () => 500;
      await own.send();
      await server.start();
      await untilDetails(temporal, own.id, /to retry 1 delivery/);
      const { runId } = await hookWorkflow(temporal, own.id).describe();
      await hookWorkflow(temporal, own.id).signal('pause', { actor: 'Mallory', reason: 'because' });
      await until('it is refused', async () =>
        /Mallory is not active/.test(await hookDetails(temporal, own.id)),
      );
      await until('it was continued', async () => {
        await hookWorkflow(temporal, own.id).signal('changed');
        return (await hookWorkflow(temporal, own.id).describe()).runId !== runId;
      });
      await until(
        'it waits again, and says what it is and why the signal changed nothing',
        async () =>
          /^[^\n]+\n\n[^]*to retry 1 delivery[^]*\n\nRefused at .*Mallory is not active/.test(
            await hookDetails(temporal, own.id),
          ),
      );
      receiver.reply = () => 200;
      await untilArrived(receiver, own.path, [await own.send()]);
      await assertLedgerSound(db.database);
    } finally {
      await api.stop();
      await worker.stop();
      await server.remove();
    }
  });
});
