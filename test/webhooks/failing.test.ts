import assert from 'node:assert/strict';
import { newId } from '../../src/core/ids.js';
import { answered, list, object, text } from '../helpers/bank.js';
import { answeredWith, failedWith, type Reply } from '../helpers/receiver.js';
import {
  readDescribedEndpoint as describeEndpoint,
  retryNow,
} from '../../src/webhooks/staff-actions.js';
import {
  deliveriesOf,
  emit,
  endpointOf,
  type TestEndpoint,
  newEndpoint,
  isSigned,
  newUrl,
  statesOf,
  webhookTests,
} from './support.js';
import { addStaff, proven } from '../helpers/staff.js';

const SECOND = 1_000;
const DAY = 86_400 * SECOND;

const { clock, receiver, api, run, isDue } = await webhookTests('failing');

describe('an endpoint that fails', () => {
  const failing = async (count: number, reply: () => Reply = () => 500): Promise<TestEndpoint> => {
    const own = await newEndpoint(api);
    await emit(api, own, count);
    receiver.reply = reply;
    await run(own.id);
    return own;
  };
  const dueIn = async (own: TestEndpoint): Promise<number[]> =>
    (await deliveriesOf(api, own.id)).map(({ nextAttemptAt }) =>
      Math.round(((nextAttemptAt ?? 0) - clock.now()) / SECOND),
    );

  it('gets the same bytes again, and its attempts are shown with status, duration and the answer', async () => {
    const own = await newEndpoint(api);
    await emit(api, own, 1);
    const replies: Reply[] = [
      answeredWith(500, { responseHead: 'oh no', durationMs: 12 }),
      failedWith('timeout'),
      204,
    ];
    receiver.reply = () => replies.shift()!;
    await run(own.id);
    clock.pass(6 * SECOND);
    await run(own.id);
    clock.pass(330 * SECOND);
    await run(own.id);
    const got = receiver.at(own.url);
    assert.deepEqual(
      [got.length, new Set(got.map(({ id, body }) => `${id} ${body}`)).size],
      [3, 1],
    );
    const path = `/v1/webhook_endpoints/${own.id}/deliveries`;
    const [shown] = list(answered(await own.bank.get(path), 200).json.items);
    assert.deepEqual(
      [shown?.status, shown?.event_id, shown?.cause, shown?.next_attempt_at],
      ['delivered', got[0]!.id, 'event', null],
    );
    assert.deepEqual(
      list(shown?.attempts).map(({ at, ...others }) => ({ ...others, at: typeof at })),
      [
        {
          status: 500,
          failure: null,
          message: null,
          duration_ms: 12,
          response: 'oh no',
          at: 'string',
        },
        {
          status: null,
          failure: 'timeout',
          message: 'it failed: timeout',
          duration_ms: 1,
          response: null,
          at: 'string',
        },
        { status: 204, failure: null, message: null, duration_ms: 1, response: 'ok', at: 'string' },
      ],
    );
  });

  it('is due again at its retry, and its state is described in words', async () => {
    const own = await failing(2);
    assert.deepEqual(await statesOf(api, own.id), { retrying: 2 });
    assert((await dueIn(own)).every((seconds) => seconds >= 2 && seconds <= 5));
    assert.equal(await isDue(own), false);
    const { text: words, nextAttemptAt } = await describeEndpoint(
      api.core.database.reader,
      own.id,
      clock.now(),
    );
    assert.match(words, /^waiting until \d\d:\d\d UTC to retry 2 deliveries$/);
    assert(nextAttemptAt !== null);
    // Its workflow has a head start.
    clock.pass(8 * SECOND);
    assert.equal(await isDue(own), true);
  });

  it('a failing endpoint is retried no sooner than its Retry-After', async () => {
    const own = await failing(1, () => answeredWith(429, { retryAfterMs: 3_600 * SECOND }));
    const [seconds] = await dueIn(own);
    assert(seconds !== undefined && seconds > 3_590 && seconds <= 3_600);
  });

  it('an endpoint is probed after five failures in a row: only the oldest delivery is sent, and waiting ones use no step', async () => {
    const own = await failing(20);
    const tried = receiver.at(own.url).length;
    assert(tried >= 5 && tried <= 12, `${tried} attempts`);
    const { probeAt, probes } = await endpointOf(api, own.id);
    assert(probeAt !== null && probes === 0);
    assert.equal(await isDue(own), false);
    const untried = (await deliveriesOf(api, own.id)).filter(({ steps }) => steps === 0).length;
    clock.pass(8 * SECOND);
    assert.equal(await isDue(own), true);
    await run(own.id);
    assert.equal(receiver.at(own.url).length, tried + 1);
    assert.equal((await endpointOf(api, own.id)).probes, 1);
    const left = (await deliveriesOf(api, own.id)).filter(({ steps }) => steps === 0).length;
    assert(left >= untried - 1);
    const { text: words } = await describeEndpoint(api.core.database.reader, own.id, clock.now());
    assert.match(words, /one at a time until one succeeds$/);
    receiver.reply = () => 200;
    clock.pass(11 * SECOND);
    await run(own.id);
    assert.equal((await endpointOf(api, own.id)).probeAt, null);
    clock.pass(400 * SECOND);
    await run(own.id);
    assert.deepEqual(await statesOf(api, own.id), { delivered: 20 });
  });

  it('a failing endpoint is retried at once, once for each action; a repeated action has no effect on later failures', async () => {
    const own = await failing(3);
    const ana = proven(
      await addStaff(api.core.database, { name: 'who retries once', rights: ['pause'] }),
    );
    const actionId = newId();
    assert.equal(await retryNow(api.core, own.id, ana, {}, actionId), true);
    assert.equal(await isDue(own), true);
    await run(own.id);
    const due = await dueIn(own);
    assert.equal(await retryNow(api.core, own.id, ana, {}, actionId), false);
    assert.equal(await isDue(own), false);
    assert.deepEqual(await dueIn(own), due);
    assert.equal(await retryNow(api.core, own.id, ana), true);
    assert.equal(await isDue(own), true);
  });

  it('is probed at once when its tenant recovers', async () => {
    const own = await failing(6);
    receiver.reply = () => 200;
    assert.equal((await run(own.id)).attempts, 0);
    const body = { since: new Date(clock.now() - SECOND * 3_600).toISOString() };
    answered(
      await own.bank.request('POST', `/v1/webhook_endpoints/${own.id}/recover`, { body }),
      202,
    );
    assert.equal(await isDue(own), true);
    await run(own.id);
    assert.deepEqual(await statesOf(api, own.id), { delivered: 6 });
  });

  it('an endpoint that answers 410 is disabled, and gets nothing until it is enabled; then it gets all missed events', async () => {
    const own = await failing(3, () => 410);
    const path = `/v1/webhook_endpoints/${own.id}`;
    const shown = answered(await own.bank.get(path), 200).json;
    assert.deepEqual([shown.status, shown.disabled_reason], ['disabled', 'answered_410']);
    receiver.reply = () => 200;
    await emit(api, own, 2);
    assert.deepEqual(await run(own.id), { ended: 'held', attempts: 0 });
    assert.equal(await isDue(own), false);
    const body = { status: 'enabled' };
    const enabled = answered(await own.bank.request('PATCH', path, { body }), 200).json;
    assert.deepEqual([enabled.status, enabled.disabled_reason], ['enabled', null]);
    assert.equal(await isDue(own), true);
    await run(own.id);
    assert.deepEqual(new Set(receiver.at(own.url).map(({ id }) => id)).size, 5);
    assert.deepEqual(await statesOf(api, own.id), { delivered: 5 });
  });

  it('for five days is disabled with the reason; enabled, it gets what it missed since five days before', async () => {
    const own = await failing(1);
    for (const seconds of [6, 331, 2_000, 8_000, 20_000, 40_000, 40_000, 96_000, 96_000]) {
      clock.pass(seconds * SECOND);
      await run(own.id);
    }
    assert.deepEqual(await statesOf(api, own.id), { failed: 1 });
    assert.equal((await endpointOf(api, own.id)).status, 'enabled');
    clock.pass(DAY + 60_000 * SECOND);
    await emit(api, own, 1);
    await run(own.id);
    const { status, disabledReason } = await endpointOf(api, own.id);
    assert.deepEqual([status, disabledReason], ['disabled', 'failing_for_5_days']);
    receiver.reply = () => 200;
    const path = `/v1/webhook_endpoints/${own.id}`;
    answered(await own.bank.request('PATCH', path, { body: { status: 'enabled' } }), 200);
    await run(own.id);
    const states = (await deliveriesOf(api, own.id))
      .map(({ cause, state }) => `${cause} ${state}`)
      .sort();
    // The first event is more than five days old by then.
    assert.deepEqual(states, ['event delivered', 'event failed']);
  });

  it('gets its retries at its new URL, with the same bytes', async () => {
    const own = await failing(1);
    const url = newUrl();
    const path = `/v1/webhook_endpoints/${own.id}`;
    answered(await own.bank.request('PATCH', path, { body: { url } }), 200);
    receiver.reply = () => 200;
    clock.pass(6 * SECOND);
    await run(own.id);
    assert.deepEqual(
      receiver.at(url).map(({ id, body }) => [id, body]),
      receiver.at(own.url).map(({ id, body }) => [id, body]),
    );
  });

  it('a failing endpoint gets no more events of a removed type, and only later ones of an added type', async () => {
    const own = await failing(2);
    const path = `/v1/webhook_endpoints/${own.id}`;
    await emit(api, own, 3, 'payout.failed');
    answered(await own.bank.request('PATCH', path, { body: { events: ['payout.failed'] } }), 200);
    assert.deepEqual(await statesOf(api, own.id), { ended: 2 });
    await emit(api, own, 1, 'payout.failed');
    await emit(api, own, 1);
    receiver.reply = () => 200;
    clock.pass(400 * SECOND);
    assert.equal((await run(own.id)).attempts, 1);
    assert.equal((await endpointOf(api, own.id)).cursorSequence, 7n);
  });

  it('gets retries signed with the new secret after a rotation, and for 24 hours with the previous secret too', async () => {
    const own = await newEndpoint(api);
    const path = `/v1/webhook_endpoints/${own.id}/rotate_secret`;
    const rotated = answered(await own.bank.request('POST', path), 200).json;
    const secret = text(rotated.secret);
    assert.notEqual(secret, own.secret);
    const next = async (): Promise<{ isNew: boolean; previous: boolean | undefined }> => {
      await emit(api, own, 1);
      await run(own.id);
      const { headers, body } = receiver.at(own.url).at(-1)!;
      const before = headers['Svc-Signature-Previous'];
      const previous =
        before === undefined ? undefined : isSigned(own, { 'Svc-Signature': before }, body);
      return { isNew: isSigned({ secret }, headers, body), previous };
    };
    assert.deepEqual(await next(), { isNew: true, previous: true });
    clock.pass(DAY + SECOND);
    assert.deepEqual(await next(), { isNew: true, previous: undefined });
    assert.equal(
      'secret' in object(answered(await own.bank.get(`/v1/webhook_endpoints/${own.id}`), 200).json),
      false,
    );
  });
});
