import assert from 'node:assert/strict';
import { removeOldAttempts } from '../../src/webhooks/sweeps.js';
import { answered, idLiteral, openBank } from '../helpers/bank.js';
import { Gate } from '../helpers/receiver.js';
import { until } from '../helpers/temporal.js';
import {
  deliveriesOf,
  emit,
  endpointOf,
  eventIds,
  type TestEndpoint,
  newEndpoint,
  statesOf,
  webhookTests,
} from './support.js';

const MINUTE = 60_000;
const DAY = 1_440 * MINUTE;

const { clock, db, receiver, api, run, isDue, path } = await webhookTests('recovering');

describe('a recovery', () => {
  const change = async (own: TestEndpoint, body: object): Promise<void> => {
    answered(await own.bank.request('PATCH', path(own), { body }), 200);
  };
  const recover = (own: TestEndpoint, agoMs: number) =>
    own.bank.request('POST', `${path(own)}/recover`, {
      body: { since: new Date(clock.now() - agoMs).toISOString() },
    });
  const tidy = async (): Promise<void> => {
    for (let after: TestEndpoint['id'] | null = null; ;) {
      const done = await removeOldAttempts(api.core.database, clock.now(), after);
      if (done === null) return;
      after = done.lastId;
    }
  };
  /** The events that have arrived, in the order of the log, each as often as it came. */
  const arrived = async (own: TestEndpoint): Promise<number[]> => {
    const ids = await eventIds(api, own.account.tenantId);
    return receiver
      .at(own.url)
      .map(({ id }) => ids.indexOf(id) + 1)
      .sort((one, other) => one - other);
  };

  it('resends only events without a 2xx since then', async () => {
    const own = await newEndpoint(api);
    await emit(api, own, 1);
    clock.pass(10 * 60_000);
    await emit(api, own, 200);
    await run(own.id);
    receiver.received.length = 0;
    // As if a part of them had failed for good, and some had never been looked at.
    const lost = (await deliveriesOf(api, own.id)).slice(101, 151);
    const ids = lost.map(({ id }) => idLiteral(id)).join(',');
    await db.change(`UPDATE webhook_deliveries SET state='failed' WHERE id IN (${ids})`);
    await db.change(
      `DELETE FROM webhook_deliveries WHERE id=${idLiteral((await deliveriesOf(api, own.id))[199]!.id)}`,
    );
    assert.equal(await isDue(own), false);
    const answer = answered(await recover(own, 60_000), 202).json;
    assert.deepEqual([answer.from_sequence, answer.to_sequence], [2, 201]);
    assert.equal(await isDue(own), true);
    assert.equal((await run(own.id)).attempts, 51);
    const states = await deliveriesOf(api, own.id);
    assert.deepEqual(
      states.filter(({ cause }) => cause === 'recover').map(({ state }) => state),
      Array(51).fill('delivered'),
    );
    assert.equal((await endpointOf(api, own.id)).recoverAfter, null);
    answered(await recover(own, 60_000), 202);
    assert.equal((await run(own.id)).attempts, 0);
  });

  it('of the last minutes that is requested while a longer one waits leaves out nothing of it', async () => {
    const own = await newEndpoint(api);
    await emit(api, own, 1);
    clock.pass(10 * MINUTE);
    await emit(api, own, 2);
    await run(own.id);
    await db.change(
      `UPDATE webhook_deliveries SET state='failed' WHERE endpoint_id=${idLiteral(own.id)}`,
    );
    for (const ago of [20 * MINUTE, MINUTE]) answered(await recover(own, ago), 202);
    assert.equal((await run(own.id)).attempts, 3);
    assert.equal((await endpointOf(api, own.id)).recoverAfter, null);
  });

  it('includes events before the registration, and makes waiting retries due', async () => {
    const bank = await openBank(api);
    const account = await bank.account();
    await emit(api, { account }, 3);
    const own = { ...(await newEndpoint(api, ['account.verified'], bank)), account };
    receiver.reply = () => 500;
    await emit(api, own, 1);
    await run(own.id);
    receiver.reply = () => 200;
    answered(await recover(own, 3_600_000), 202);
    assert.equal((await run(own.id)).attempts, 4);
    assert.deepEqual(await statesOf(api, own.id), { delivered: 4 });
  });

  it('begins at most thirty days ago and not in the future; a disabled endpoint is enabled first', async () => {
    const own = await newEndpoint(api);
    answered(await recover(own, 30 * DAY - 60_000), 202);
    for (const ago of [30 * DAY + 60_000, -60_000]) {
      const answer = answered(await recover(own, ago), 400, 'invalid_field');
      assert.deepEqual([answer.details?.field, answer.details?.reason], ['since', 'out_of_range']);
    }
    answered(await own.bank.request('PATCH', path(own), { body: { status: 'disabled' } }), 200);
    const refused = answered(await recover(own, 1_000), 409, 'invalid_state');
    assert.deepEqual(refused.details, { current: 'disabled', allowed: ['enabled'] });
  });

  it('sends what lies between the cursor and the head of the log of a type that was just added, and nothing twice', async () => {
    const own = await newEndpoint(api);
    await emit(api, own, 2);
    await run(own.id);
    // Behind: its cursor has reached neither the events that it is told of nor those of the other type.
    await emit(api, own, 1);
    await emit(api, own, 2, 'payout.failed');
    await change(own, { events: ['account.verified', 'payout.failed'] });
    const range = answered(await recover(own, 60 * MINUTE), 202).json;
    assert.deepEqual([range.from_sequence, range.to_sequence], [1, 5]);
    await emit(api, own, 1, 'payout.failed');
    await emit(api, own, 1);
    await run(own.id);
    assert.deepEqual(await arrived(own), [1, 2, 3, 4, 5, 6, 7]);
    assert.deepEqual(await statesOf(api, own.id), { delivered: 7 });
    assert.equal((await endpointOf(api, own.id)).recoverAfter, null);
  });

  it('requested while a delivery is in flight, even twice, does not send this delivery again', async () => {
    const own = await newEndpoint(api);
    await emit(api, own, 2);
    const gate = new Gate();
    receiver.reply = () => gate.reply();
    const running = run(own.id);
    await until('both are on their way', () => receiver.at(own.url).length === 2);
    for (let times = 0; times < 2; times += 1) answered(await recover(own, 60 * MINUTE), 202);
    await until(
      'it was gone through',
      async () => (await endpointOf(api, own.id)).recoverAfter === null,
    );
    gate.open(200);
    await running;
    assert.deepEqual(await arrived(own), [1, 2]);
    assert.deepEqual(await statesOf(api, own.id), { delivered: 2 });
  });

  describe('by enabling', () => {
    /** Two events have arrived, and the third has failed, when the tenant disables the endpoint. */
    const disabled = async (): Promise<TestEndpoint> => {
      const own = await newEndpoint(api);
      await emit(api, own, 2);
      await run(own.id);
      receiver.reply = () => 500;
      await emit(api, own, 1);
      await run(own.id);
      await db.change(
        `UPDATE webhook_deliveries SET state='failed', next_attempt_at=NULL, finished_at=created_at
         WHERE endpoint_id=${idLiteral(own.id)} AND state='retrying'`,
      );
      receiver.reply = () => 200;
      receiver.received.length = 0;
      await change(own, { status: 'disabled' });
      return own;
    };

    it('enabling an endpoint sends the events that it missed, none that it got, and leaves no row behind', async () => {
      const own = await disabled();
      clock.pass(90 * DAY);
      await tidy();
      assert.deepEqual(await statesOf(api, own.id), { delivered: 2, failed: 1 });
      await change(own, { status: 'enabled' });
      await tidy();
      await run(own.id);
      assert.deepEqual(await arrived(own), [3]);
      await tidy();
      assert.deepEqual(
        (await deliveriesOf(api, own.id)).map(({ cause, state }) => `${cause} ${state}`),
        ['recover delivered'],
      );
    });
  });
});
