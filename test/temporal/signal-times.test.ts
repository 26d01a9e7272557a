import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { TemporalClient } from '../../src/temporal/client.js';
import { testTemporal } from '../helpers/temporal.js';

/** Some pages of a history. */
const MANY = 600;
const AT_ONCE = 50;
const SAID = { actor: 'ana', reason: 'x'.repeat(100), code: '123456' };
const SILENT = { actor: null, reason: null, code: null };

const approved = (number: number) => ({ ...SAID, action: 'approve', number });

const temporal = await testTemporal();
const client = new TemporalClient({
  address: temporal.address,
  namespace: temporal.namespace,
  tls: null,
});
// No worker serves this queue: signals wait.
const workflow = await temporal.client.workflow.start('transfer', {
  workflowId: `signal-times/${randomUUID()}`,
  taskQueue: 'of-nobody',
  args: [],
});
const run = { workflowId: workflow.workflowId, runId: workflow.firstExecutionRunId };
for (let sent = 0; sent < MANY; sent += AT_ONCE)
  await Promise.all(Array.from({ length: AT_ONCE }, () => workflow.signal('approve', SAID)));

describe('the moment a signal arrived', () => {
  after(async () => {
    await workflow.terminate('the test is over');
    await client.close();
  });

  it("the time of a signal is read from the server's history by name and number, on any page; null if it never arrived, or with other content", async () => {
    const before = Date.now();
    await workflow.signal('cancel');
    const after = Date.now();
    const at = await client.signalReceivedAt(run, { ...SILENT, action: 'cancel', number: 1 });
    assert(
      at !== null && at >= before - 1 && at <= after + 1,
      `${at} is not from ${before} to ${after}`,
    );
    const [first, last] = [
      await client.signalReceivedAt(run, approved(1)),
      await client.signalReceivedAt(run, approved(MANY)),
    ];
    assert(first !== null && last !== null && first <= last && last <= at);
    for (const number of [0, -1, 1.5, MANY + 1, Number.NaN])
      assert.equal(await client.signalReceivedAt(run, approved(number)), null, String(number));
    for (const other of [{ actor: 'leo' }, { reason: 'y' }, { code: '654321' }])
      assert.equal(await client.signalReceivedAt(run, { ...approved(1), ...other }), null);
    assert.equal(await client.signalReceivedAt({ ...run, runId: randomUUID() }, approved(1)), null);
  });
});
