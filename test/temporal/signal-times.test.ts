import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { WorkflowHandleWithFirstExecutionRunId } from '@temporalio/client';
import { TemporalClient, type WorkflowRun } from '../../src/temporal/client.js';
import { TemporalUnavailable } from '../../src/temporal/failures.js';
import { SignalTimes } from '../../src/temporal/signal-times.js';
import { testTemporal } from '../support/temporal.js';

/** Some pages of a history. */
const MANY = 600;
const AT_ONCE = 50;
const SAID = { actor: 'ana', reason: 'x'.repeat(100), code: '123456' };
const SILENT = { actor: null, reason: null, code: null };

const approved = (number: number) => ({ ...SAID, action: 'approve', number });

const temporal = await testTemporal();

describe('the moment a signal arrived', () => {
  let client: TemporalClient;
  let workflow: WorkflowHandleWithFirstExecutionRunId;
  let run: WorkflowRun;
  let reads = 0;
  let times: SignalTimes;

  before(async () => {
    client = new TemporalClient({
      address: temporal.address,
      namespace: temporal.namespace,
      tls: null,
    });
    // Nobody works for this queue: signals wait.
    workflow = await temporal.client.workflow.start('transfer', {
      workflowId: `signal-times/${randomUUID()}`,
      taskQueue: 'of-nobody',
      args: [],
    });
    run = { workflowId: workflow.workflowId, runId: workflow.firstExecutionRunId };
    for (let sent = 0; sent < MANY; sent += AT_ONCE)
      await Promise.all(Array.from({ length: AT_ONCE }, () => workflow.signal('approve', SAID)));
  });
  beforeEach(() => {
    reads = 0;
    times = new SignalTimes({
      signalsOf: (of) => {
        reads += 1;
        return client.signalsOf(of);
      },
    });
  });
  after(async () => {
    await workflow.terminate('the test is over');
    await client.close();
  });

  it('the moment a signal arrived is what the server wrote, by name and number, through every page of the history', async () => {
    const before = Date.now();
    await workflow.signal('cancel');
    const after = Date.now();
    const found = await client.signalsOf(run);
    assert.deepEqual(
      [...found].map(([name, all]) => [name, all.length]),
      [
        ['approve', MANY],
        ['cancel', 1],
      ],
    );
    const all = found.get('approve')!;
    assert.deepEqual(
      all,
      [...all].sort((one, other) => one.at - other.at),
    );
    const at = await times.receivedAt(run, { ...SILENT, action: 'cancel', number: 1 });
    assert(
      at !== null && at >= before - 1 && at <= after + 1,
      `${at} is not from ${before} to ${after}`,
    );
    assert.equal(await times.receivedAt(run, approved(1)), all[0]?.at);
    assert.equal(await times.receivedAt(run, approved(MANY)), all[MANY - 1]?.at);
  });

  it('the moment a signal arrived is read once for many waiting signals', async () => {
    await Promise.all(
      Array.from({ length: AT_ONCE }, (_, index) => times.receivedAt(run, approved(index + 1))),
    );
    assert.equal(reads, 1);
    assert.notEqual(await times.receivedAt(run, approved(MANY)), null);
    assert.equal(reads, 1);
  });

  it('the moment a signal arrived is found for a signal that arrived after the history was read', async () => {
    assert.equal(await times.receivedAt(run, { ...SILENT, action: 'reject', number: 1 }), null);
    await workflow.signal('reject');
    assert.notEqual(await times.receivedAt(run, { ...SILENT, action: 'reject', number: 1 }), null);
  });

  it('the moment a signal arrived is null for a signal that never arrived, and for a run that never existed', async () => {
    for (const number of [0, -1, 1.5, MANY + 1, Number.NaN])
      assert.equal(await times.receivedAt(run, approved(number)), null, String(number));
    assert.equal(await times.receivedAt({ ...run, runId: randomUUID() }, approved(1)), null);
    assert.equal(
      await times.receivedAt({ workflowId: randomUUID(), runId: randomUUID() }, approved(1)),
      null,
    );
  });

  it('the moment a signal arrived is null for a signal that said something else than is claimed of it', async () => {
    assert.notEqual(await times.receivedAt(run, approved(1)), null);
    for (const other of [
      { actor: 'Ana' },
      { code: '123457' },
      { code: null },
      { reason: 'x' },
      { reason: null },
    ])
      assert.equal(
        await times.receivedAt(run, { ...approved(1), ...other }),
        null,
        JSON.stringify(other),
      );
    await workflow.signal('cancel', 'no object');
    const { length } = (await client.signalsOf(run)).get('cancel') ?? [];
    assert.equal(await times.receivedAt(run, { ...SAID, action: 'cancel', number: length }), null);
    assert.notEqual(
      await times.receivedAt(run, { ...SILENT, action: 'cancel', number: length }),
      null,
    );
  });

  it('the moment a signal arrived is asked for again after Temporal was away', async () => {
    const away = new TemporalClient({
      address: '127.0.0.1:1',
      namespace: temporal.namespace,
      tls: null,
    });
    let isAway = true;
    const shaky = new SignalTimes({ signalsOf: (of) => (isAway ? away : client).signalsOf(of) });
    await assert.rejects(shaky.receivedAt(run, approved(1)), TemporalUnavailable);
    isAway = false;
    assert.notEqual(await shaky.receivedAt(run, approved(1)), null);
    await away.close();
  });
});
