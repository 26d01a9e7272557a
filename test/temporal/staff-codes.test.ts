import assert from 'node:assert/strict';
import { defaultPayloadConverter } from '@temporalio/common';
import { msToTs } from '@temporalio/common/lib/time.js';
import { instant, systemClock } from '../../src/core/instant.js';
import { newId, type Uuid } from '../../src/core/ids.js';
import { startTestApi, type TestApi } from '../helpers/api.js';
import { testDatabase } from '../helpers/database.js';
import { codeOf } from '../helpers/staff.js';
import {
  newNamespace,
  serving,
  sharedAddress,
  temporalEnvironment,
  type TestTemporal,
  until,
  untilEnded,
  untilWaiting,
  workflowOf,
} from '../helpers/temporal.js';
import { startTestWorker, type TestWorker } from '../helpers/temporal-worker.js';
import {
  actsOn,
  assertEnds,
  type GuardedBank,
  hire,
  openGuardedBank,
  sendSignal,
  signatureOf,
} from '../helpers/temporal-world.js';

const MINUTE_MS = 60_000;

/** SCHEDULE_ACTIVITY_TASK of Temporal's protocol. */
const SCHEDULE_ACTIVITY = 1;

/** The power of a person who reaches Temporal: the next workflow task of this queue runs the activity, with any input. */
async function scheduleActivity(
  { client, namespace }: TestTemporal,
  queue: string,
  {
    name,
    taskQueue,
    input,
  }: { readonly name: string; readonly taskQueue: string; readonly input: object },
): Promise<void> {
  // Polling takes a deadline.
  const { taskToken } = await client.withDeadline(Date.now() + MINUTE_MS, () =>
    client.workflowService.pollWorkflowTaskQueue({ namespace, taskQueue: { name: queue } }),
  );
  const scheduleActivityTaskCommandAttributes = {
    ...{ activityId: '1', activityType: { name }, taskQueue: { name: taskQueue } },
    ...{ startToCloseTimeout: msToTs('10 seconds'), scheduleToCloseTimeout: msToTs('1 minute') },
    input: { payloads: [defaultPayloadConverter.toPayload(input)] },
  };
  const commands = [{ commandType: SCHEDULE_ACTIVITY, scheduleActivityTaskCommandAttributes }];
  await client.workflowService.respondWorkflowTaskCompleted({ namespace, taskToken, commands });
}

const db = await testDatabase();

describe("a signal's code", () => {
  let temporal: TestTemporal;
  let worker: TestWorker;
  let api: TestApi;
  let guarded: GuardedBank;
  let late = 0;

  const startWorker = (): Promise<TestWorker> =>
    startTestWorker(db, temporal, {
      environment: serving('approvals'),
      sweeps: false,
      clock: () => instant(systemClock() + late),
    });

  before(async () => {
    temporal = await newNamespace(sharedAddress(), 'codes');
    worker = await startWorker();
    api = await startTestApi(db, temporalEnvironment(temporal));
  });
  beforeEach(async () => {
    late = 0;
    // Of its own: what is posted to an account is never dated before the last posting to it.
    guarded = await openGuardedBank(api);
  });

  async function pending(): Promise<Uuid> {
    const id = await guarded.createPending();
    await untilWaiting(temporal, id);
    return id;
  }
  const refusals = async (id: Uuid): Promise<unknown[]> =>
    (await actsOn(db, id)).flatMap(
      ({ details }) => (JSON.parse(details) as { refused?: string }).refused ?? [],
    );

  /** The worker is away while the signal comes, and handles it this much later. */
  async function lookedAtLater(id: Uuid, minutes: number, signal: object): Promise<void> {
    await worker.stop();
    await sendSignal(temporal, id, 'approve', signal);
    late = minutes * MINUTE_MS;
    worker = await startWorker();
  }

  it('counts if it was right when the signal arrived, even if the worker was away for minutes', async () => {
    const [ana, id] = [await hire(db.database), await pending()];
    await lookedAtLater(id, 9, signatureOf(ana));
    await untilEnded(temporal, id);
    await assertEnds(db, new Map([[id, 'completed']]));
    assert.deepEqual(await refusals(id), []);
  });

  it('is wrong if it is valid only when the worker handles the signal, and too old after ten minutes', async () => {
    const [ana, bob, id] = [await hire(db.database), await hire(db.database), await pending()];
    await lookedAtLater(id, 5, {
      ...signatureOf(ana),
      code: codeOf(ana, instant(systemClock() + 5 * MINUTE_MS)),
    });
    await until('it is refused', async () => (await refusals(id)).length === 1);
    await lookedAtLater(id, 11, signatureOf(bob));
    await until('it is refused', async () => (await refusals(id)).length === 2);
    assert.deepEqual(await refusals(id), [
      'the code is wrong',
      'the code is older than 10 minutes: ask again',
    ]);
    await assertEnds(db, new Map([[id, 'pending_approval']]));
  });

  it("is refused in a workflow that is not the resource's own, even if the service's worker runs it", async () => {
    const [ana, id] = [await hire(db.database), await pending()];
    const other = await temporal.client.workflow.start('transfer', {
      ...{ workflowId: `transfer/${newId()}`, taskQueue: 'approvals' },
      args: [{ resourceId: id, tenantId: guarded.bank.tenant.tenant.id }],
    });
    await other.signal('approve', signatureOf(ana));
    await until('it is judged', async () => (await actsOn(db, id)).length === 1);
    assert.deepEqual(await refusals(id), [
      'the time at which it arrived is unknown: send it again',
    ]);
    await other.terminate();
    await sendSignal(temporal, id, 'approve', signatureOf(ana));
    await untilEnded(temporal, id);
    await assertEnds(db, new Map([[id, 'completed']]));
  });

  for (const [what, sent] of [
    ['no code', { code: undefined }],
    ['another code', { code: '000000' }],
    ['another name', { actor: 'Mallory' }],
    ['another reason', { reason: 'the real one' }],
  ] as const)
    it(`a code is refused if a forged workflow claims a signal that had ${what}`, async () => {
      const [ana, id] = [await hire(db.database), await pending()];
      const signature = signatureOf(ana);
      const { workflowId } = workflowOf(temporal, id);
      await workflowOf(temporal, id).terminate();
      const forged = await temporal.client.workflow.start('forged', {
        workflowId,
        taskQueue: 'of-mallory',
      });
      await forged.signal('approve', { ...signature, ...sent });
      const act = { resourceId: id, action: 'approve', ...signature, number: 1, actionId: newId() };
      await scheduleActivity(temporal, 'of-mallory', {
        name: 'actOnTransfer',
        taskQueue: 'approvals',
        input: act,
      });
      await until('it is judged', async () => (await actsOn(db, id)).length === 1);
      assert.deepEqual(await refusals(id), [
        'the time at which it arrived is unknown: send it again',
      ]);
      await forged.terminate();
      await assertEnds(db, new Map([[id, 'pending_approval']]));
    });
});
