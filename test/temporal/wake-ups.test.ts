import assert from 'node:assert/strict';
import { ApplicationFailure } from '@temporalio/common';
import { newId } from '../../src/core/ids.js';
import { TemporalClient } from '../../src/temporal/client.js';
import {
  type ApprovalState,
  type BatchPayment,
  type BatchState,
  type EndpointView,
  type ScheduleState,
  SIGNALS,
  type TaskQueue,
  type WorkflowType,
} from '../../src/temporal/contracts.js';
import { TemporalWorkers } from '../../src/temporal/workers.js';
import { newNamespace, sharedAddress, type TestTemporal, until } from '../helpers/temporal.js';
import { installRuntimeOnce, sdkWarnings } from '../helpers/temporal-worker.js';

/** The next call of an activity: what it answers, and what happens before it does. */
interface Step {
  readonly call: string;
  readonly answers: unknown;
  readonly meanwhile?: () => Promise<unknown>;
}

/** The results of the activities of one workflow, call after call; any other call fails the workflow. */
interface Script {
  readonly steps: Step[];
  /** Each call with what it was asked. */
  readonly calls: [name: string, asked: unknown][];
}

const well: EndpointView = {
  nextDueAt: null,
  status: 'enabled',
  isPaused: false,
  waitingFor: 'well',
  isOver: false,
};
const over: EndpointView = { ...well, status: 'deleted', isOver: true };
const planned: ScheduleState = {
  ...{ status: 'active', nextRunAt: '2999-01-01T00:00:00.000Z', dueInMs: 3_600_000 },
  ...{ runs: 0, lastResult: null },
};
const counts = {
  amount: null,
  rows: 1,
  rejected: 0,
  paid: 0,
  failed: 0,
  isPaused: false,
  pauseReason: null,
  rejection: null,
};
const batchIn = (status: string, more: Partial<BatchState> = {}): BatchState => ({
  ...counts,
  status,
  ...more,
});
const waiting = (status = 'pending_approval'): ApprovalState => ({
  ...{ status, required: 2, received: 0 },
  expiresAt: new Date(Date.now() + 3_600_000).toISOString(),
});

/** The workflows themselves on a real Temporal; their activities alone answer from a script, so that each order is certain. */
describe('a signal to a workflow that is busy', () => {
  let temporal: TestTemporal;
  let client: TemporalClient;
  let workers: TemporalWorkers;
  let warnedBefore = 0;
  const scripts = new Map<string, Script>();

  const play = async (name: string, id: string, asked: unknown): Promise<unknown> => {
    const script = scripts.get(id);
    script?.calls.push([name, asked]);
    const step = script?.steps.shift();
    if (step?.call !== name)
      throw ApplicationFailure.nonRetryable(`called ${name}, not ${step?.call ?? 'nothing'}`);
    await step.meanwhile?.();
    return step.answers;
  };
  const activities = (looks: readonly string[], acts: readonly string[]): object =>
    Object.fromEntries([
      ...looks.map((name) => [name, (id: string) => play(name, id, id)] as const),
      ...acts.map(
        (name) =>
          [name, (act: Readonly<Record<string, string>>) => play(name, idOf(act), act)] as const,
      ),
    ]);
  const idOf = ({ resourceId, batchId, endpointId }: Readonly<Record<string, string>>): string =>
    resourceId ?? batchId ?? endpointId ?? '';

  before(async () => {
    temporal = await newNamespace(sharedAddress(), 'wake_ups');
    installRuntimeOnce();
    warnedBefore = sdkWarnings.length;
    const options = { address: temporal.address, namespace: temporal.namespace, tls: null };
    client = new TemporalClient(options);
    const served: [TaskQueue, object][] = [
      ['webhooks', activities(['checkEndpoint'], ['actOnEndpoint'])],
      ['batches', activities(['readBatch', 'validateBatch', 'payBatch'], ['actOnBatch'])],
      [
        'approvals',
        activities(['readTransfer', 'expireTransfer', 'runSchedule'], ['actOnTransfer']),
      ],
      ['payouts', activities(['readPayout', 'askRail', 'submitPayout'], ['actOnPayout'])],
    ];
    workers = new TemporalWorkers(
      {
        temporal: options,
        version: null,
        queues: served.map(([queue, own]) => ({
          queue,
          activities: own,
          maxActivities: 10,
          hasWorkflows: true,
        })),
        shutdownGraceMs: 1_000,
        auditEveryMs: 0,
        tracing: null,
      },
      client,
      { info: () => undefined, warn: () => undefined },
    );
    workers.start();
    await until('the workers poll', () => workers.isPolling);
  });
  after(async () => {
    await workers.stop();
    await client.close();
    assert.deepEqual(sdkWarnings.slice(warnedBefore), []);
  });

  const signal = (id: string, name: string, ...given: readonly unknown[]): Promise<void> =>
    temporal.client.workflow.getHandle(id).signal(name, ...given);
  const changed = (id: string) => (): Promise<void> => signal(id, SIGNALS.changed);

  /** Runs a workflow to its end. Answers what its activities were asked, and what it came to. */
  async function run(
    type: WorkflowType,
    taskQueue: TaskQueue,
    stepsOf: (id: string) => readonly Step[],
  ): Promise<{ id: string; calls: string[]; acts: unknown[]; result: unknown }> {
    const id = newId();
    const script: Script = { steps: [...stepsOf(id)], calls: [] };
    scripts.set(id, script);
    const input = {
      ...{ resourceId: id, tenantId: newId(), batchId: id, endpointId: id, scheduleId: id },
      ...{ polling: { firstMs: 50, longestMs: 300 }, summary: 'of a test', lookAgainMs: 3_600_000 },
    };
    // One that looks no more would wait for ever.
    const options = {
      workflowId: id,
      taskQueue,
      args: [input],
      workflowExecutionTimeout: '30 seconds',
    } as const;
    const handle = await temporal.client.workflow.start(type, options);
    const result: unknown = await handle.result();
    assert.deepEqual(script.steps, [], 'steps were left');
    const acts = script.calls.flatMap(([, asked]) => (typeof asked === 'object' ? [asked] : []));
    return { id, calls: script.calls.map(([name]) => name), acts, result };
  }

  it('is noticed: a notification during a check of an endpoint causes another check', async () => {
    const { calls } = await run('webhookEndpoint', 'webhooks', (id) => [
      {
        call: 'checkEndpoint',
        answers: { ...well, nextDueAt: '2999-01-01T00:00:00.000Z' },
        meanwhile: changed(id),
      },
      { call: 'checkEndpoint', answers: over, meanwhile: changed(id) },
      { call: 'checkEndpoint', answers: over },
    ]);
    assert.equal(calls.length, 3);
  });

  it('is noticed: a change while a transfer or a schedule is read makes the workflow read it again', async () => {
    const ended = waiting('completed');
    const { result } = await run('transfer', 'approvals', (id) => [
      { call: 'readTransfer', answers: waiting(), meanwhile: changed(id) },
      { call: 'readTransfer', answers: ended },
    ]);
    assert.equal((result as ApprovalState).status, 'completed');
    const over = { ...planned, status: 'canceled', nextRunAt: null, dueInMs: null };
    const canceled = await run('schedule', 'approvals', (id) => [
      { call: 'runSchedule', answers: planned, meanwhile: changed(id) },
      { call: 'runSchedule', answers: over },
    ]);
    assert.deepEqual(canceled.result, over);
  });

  it('is noticed: a change while a batch is read, validated or paid makes the workflow read it again', async () => {
    const paused: BatchPayment = { state: batchIn('executing', { isPaused: true }), end: 'paused' };
    const { result } = await run('bonusBatch', 'batches', (id) => [
      { call: 'readBatch', answers: batchIn('validating') },
      { call: 'validateBatch', answers: batchIn('ready'), meanwhile: changed(id) },
      { call: 'readBatch', answers: batchIn('ready'), meanwhile: changed(id) },
      { call: 'readBatch', answers: batchIn('executing') },
      { call: 'payBatch', answers: paused, meanwhile: changed(id) },
      { call: 'readBatch', answers: paused.state, meanwhile: changed(id) },
      { call: 'readBatch', answers: batchIn('completed') },
    ]);
    assert.deepEqual(result, batchIn('completed'));
  });

  it('is handled in the order of arrival, also for several actions of one person', async () => {
    const asked = [
      ['approve', 'ana'],
      ['cancel', 'eva'],
      ['approve', 'ana'],
      ['reject', 'leo'],
    ] as const;
    const { acts } = await run('transfer', 'approvals', (id) => [
      {
        call: 'readTransfer',
        answers: waiting(),
        meanwhile: async () => {
          for (const [action, actor] of asked) await signal(id, action, { actor, reason: 'why' });
        },
      },
      ...asked.map(([action]) => {
        const state = waiting(action === 'reject' ? 'rejected' : undefined);
        return { call: 'actOnTransfer', answers: { state, refused: null } };
      }),
    ]);
    const seen = acts as { action: string; actor: string; actionId: string }[];
    assert.deepEqual(
      seen.map(({ action, actor }) => [action, actor]),
      asked,
    );
    assert.equal(new Set(seen.map(({ actionId }) => actionId)).size, asked.length);
  });

  it('is handled even after the resource has ended: late staff actions are recorded', async () => {
    const act = (action: string) => (id: string) => () =>
      signal(id, action, { actor: 'ana', reason: 'why' });
    const { acts, result } = await run('transfer', 'approvals', (id) => [
      { call: 'readTransfer', answers: waiting(), meanwhile: act('approve')(id) },
      {
        call: 'actOnTransfer',
        answers: { state: waiting('completed'), refused: null },
        meanwhile: act('cancel')(id),
      },
      {
        call: 'actOnTransfer',
        answers: { state: waiting('completed'), refused: 'it is completed' },
      },
    ]);
    assert.deepEqual(
      (acts as { action: string }[]).map(({ action }) => action),
      ['approve', 'cancel'],
    );
    assert.match((result as { lastRefusal: string }).lastRefusal, /cancel by ana: it is completed/);
  });

  it('is handled before anything else is done: a payout that waits for its rail is canceled, not submitted', async () => {
    const cancelWhileItWaits = async (id: string): Promise<void> => {
      const handle = temporal.client.workflow.getHandle(id);
      const waits = async (): Promise<boolean> =>
        ((await handle.fetchHistory()).events ?? []).some((one) => one.timerStartedEventAttributes);
      await until('the payout waits', waits);
      await signal(id, 'cancel', { actor: 'ana', reason: 'why' });
    };
    let canceling: Promise<void> | undefined;
    const { calls } = await run('payout', 'payouts', (id) => [
      {
        call: 'readPayout',
        answers: { ...waiting('approved'), isHeld: true },
        // Not awaited, since the workflow waits only after this call.
        meanwhile: async () => void (canceling = cancelWhileItWaits(id)),
      },
      { call: 'actOnPayout', answers: { state: waiting('canceled'), refused: null } },
    ]);
    await canceling;
    assert.deepEqual(calls, ['readPayout', 'actOnPayout']);
  });

  it('the workflow of a batch that lapsed shows that it lapsed', async () => {
    const lapsed = batchIn('rejected', { rejection: 'lapsed' });
    const { id } = await run('bonusBatch', 'batches', () => [
      { call: 'readBatch', answers: lapsed },
    ]);
    const { currentDetails } = await temporal.client.workflow
      .getHandle(id)
      .query<{ currentDetails?: string }>('__temporal_workflow_metadata');
    assert.equal(currentDetails, 'Lapsed: nobody executed it in time. Nothing is waited for.');
  });

  it('the workflow of a payout asks its rail after the shortest pause, twice that, four times that, and then after the longest each time', async () => {
    const asked = { call: 'askRail', answers: waiting('in_progress') };
    const { id } = await run('payout', 'payouts', () => [
      { call: 'readPayout', answers: waiting('in_progress') },
      ...Array.from({ length: 5 }, () => asked),
      { call: 'askRail', answers: waiting('completed') },
    ]);
    const { events } = await temporal.client.workflow.getHandle(id).fetchHistory();
    const pauses = (events ?? []).flatMap(({ timerStartedEventAttributes: timer }) => {
      const { seconds, nanos } = timer?.startToFireTimeout ?? {};
      return timer ? [Number(seconds ?? 0) * 1_000 + (nanos ?? 0) / 1_000_000] : [];
    });
    assert.deepEqual(pauses, [50, 100, 200, 300, 300, 300]);
  });
});
