import assert from 'node:assert/strict';
import { SCENARIOS } from '../../src/payouts/rails/simulated.js';
import { startTestApi } from '../helpers/api.js';
import { idLiteral, LEAST, object } from '../helpers/bank.js';
import { testDatabase } from '../helpers/database.js';
import {
  serving,
  stateOf,
  temporalEnvironment,
  testTemporal,
  until,
  untilEnded,
  untilWaiting,
  workflowOf,
} from '../helpers/temporal.js';
import { startTestWorker } from '../helpers/temporal-worker.js';
import { balanceOf } from '../helpers/world.js';
import {
  accountNumber,
  assertSameStory,
  DOCUMENT,
  HOLDER,
  openPayoutBank,
  paidTimes,
  type PayoutBank,
  rowOf,
  statusesOf,
  untilStatus,
} from './support.js';
import { newSignature } from '../helpers/temporal-world.js';

const db = await testDatabase();
const temporal = await testTemporal();

await startTestWorker(db, temporal, { environment: serving('payouts', 'approvals') });
const api = await startTestApi(db, temporalEnvironment(temporal));

describe('the workflow of a payout', () => {
  let own: PayoutBank;

  beforeEach(async () => {
    own = await openPayoutBank(api);
  });

  it('brings each ending in the table to its state, paid at most once, with its events', async () => {
    const ids = await Promise.all(SCENARIOS.map(({ ending }) => own.pay(ending ?? undefined)));
    for (const [index, { name, steps }] of SCENARIOS.entries()) {
      const wanted = ['approved', 'in_progress', ...steps.map(({ status }) => status)];
      const story = await until(
        `${name} of ${ids[index]!}`,
        async () => {
          const told = await own.get(ids[index]!);
          return told.status === wanted.at(-1) ? told : null;
        },
        { limitMs: 60_000 },
      );
      assert.deepEqual(statusesOf(story), wanted);
      await assertSameStory(own, ids[index]!);
    }
    assert.deepEqual(
      await paidTimes(db, ids),
      ids.map(() => 1),
    );
    const open = SCENARIOS.findIndex(({ name }) => name === 'no_answer');
    for (const [index, id] of ids.entries())
      if (index !== open) await untilEnded(temporal, id, 'payout');
    const waiting = await stateOf(temporal, ids[open]!, 'payout');
    assert.match(
      waiting?.waitingFor ?? '',
      /^Waiting for the rail to report the outcome; asked \d+ time/,
    );
    // All but the payout with the unknown result have ended: only that one is still held.
    assert.equal((await balanceOf(db.database, own.source.id)).held, LEAST);
    await workflowOf(temporal, ids[open]!, 'payout').terminate('of a test');
  });

  it('refuses staff actions that are no longer possible, with a reason', async () => {
    const id = await own.pay('03');
    await untilStatus(own, id, ['in_progress']);
    await workflowOf(temporal, id, 'payout').signal('cancel', await newSignature(db.database));
    const refusal = await until(
      'it says so',
      async () => (await stateOf(temporal, id, 'payout'))?.lastRefusal,
    );
    assert.match(refusal, /cancel by Ana .*: it is in_progress, and can no longer be canceled/);
    assert.equal((await rowOf(db, id)).status, 'in_progress');
    await workflowOf(temporal, id, 'payout').terminate('of a test');
  });

  it('ends as canceled when nobody approves in time', async () => {
    await own.guard(1);
    const id = await own.createPending();
    await untilWaiting(temporal, id, 'payout');
    await db.change(
      `UPDATE payouts SET approval_expires_at=UTC_TIMESTAMP(3) WHERE id=${idLiteral(id)}`,
    );
    const shown = await untilStatus(own, id, ['canceled']);
    assert.equal(object(shown.failure).code, 'approval_expired');
    await untilEnded(temporal, id, 'payout');
    await assertSameStory(own, id);
  });

  it('holds no secret and no name: neither its history nor its attributes', async () => {
    const id = await own.pay('06', { description: 'a description of nobody else' });
    await untilStatus(own, id, ['completed']);
    await untilEnded(temporal, id, 'payout');
    const handle = workflowOf(temporal, id, 'payout');
    const history = JSON.stringify([await handle.fetchHistory(), (await handle.describe()).raw]);
    const decoded = [...history.matchAll(/"([A-Za-z0-9+/=]{16,})"/g)].map(([, text = '']) =>
      Buffer.from(text, 'base64').toString('utf8'),
    );
    const all = [history, ...decoded].join('\n');
    for (const secret of [accountNumber('06'), DOCUMENT, HOLDER, 'a description of nobody else'])
      assert(!all.includes(secret), secret);
  });
});
