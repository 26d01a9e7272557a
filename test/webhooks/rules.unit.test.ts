import assert from 'node:assert/strict';
import { type Instant, instant } from '../../src/core/instant.js';
import {
  dueTimesAfterRun,
  progressAfter,
  FAILING_MS,
  type Health,
  healthAfter,
  HEALTHY,
  type RunLoad,
  nextDue,
  nextAttemptKind,
  probeWaitMs,
  SCHEDULE_MS,
  WORKFLOW_HEAD_START_MS,
} from '../../src/webhooks/rules.js';
import type { AttemptResult } from '../../src/webhooks/attempt.js';
import { describeEndpoint, type EndpointSnapshot } from '../../src/webhooks/endpoint-text.js';
import { answeredWith, failedWith } from '../helpers/receiver.js';

const NOW = instant(Date.parse('2030-03-04T14:00:00.000Z'));
const HOUR = 3_600_000;
const MIDDLE = 0.5;

const after = (steps: number, result: AttemptResult, random = MIDDLE, isWanted = true) =>
  progressAfter({ steps }, result, isWanted, NOW, random);
const waitOf = (
  steps: number,
  result: AttemptResult = answeredWith(500),
  random = MIDDLE,
): number => (after(steps, result, random).nextAttemptAt ?? Number.NaN) - NOW;

describe('an attempt', () => {
  it('ends the delivery as delivered if its status is 2xx, and is a failure otherwise', () => {
    for (const status of [200, 201, 204, 299])
      assert.deepEqual(after(3, answeredWith(status)), {
        state: 'delivered',
        steps: 4,
        nextAttemptAt: null,
        finishedAt: NOW,
      });
    for (const status of [100, 199, 300, 301, 307, 400, 404, 410, 500])
      assert.equal(after(0, answeredWith(status)).state, 'retrying');
  });

  it('that fails is repeated after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 10 h, 24 h, 24 h', () =>
    assert.deepEqual(
      Array.from({ length: 9 }, (_, step) => waitOf(step)),
      [5_000, 300_000, 0.5 * HOUR, 2 * HOUR, 5 * HOUR, 10 * HOUR, 10 * HOUR, 24 * HOUR, 24 * HOUR],
    ));

  it('is made ten times over about 75 hours; then the delivery has failed', () => {
    assert.equal(SCHEDULE_MS.length, 10);
    const hours = SCHEDULE_MS.reduce((sum, ms) => sum + ms) / HOUR;
    assert(hours > 75 && hours < 76);
    assert(hours * HOUR < FAILING_MS, 'the endpoint would be disabled first');
    assert.deepEqual(after(9, failedWith('timeout')), {
      state: 'failed',
      steps: 10,
      nextAttemptAt: null,
      finishedAt: NOW,
    });
  });

  it('the time of a retry varies randomly by a tenth', () => {
    assert.deepEqual(
      [waitOf(1, answeredWith(500), 0), waitOf(1, answeredWith(500), 1)],
      [270_000, 330_000],
    );
  });

  it('honours Retry-After on 429 and 503 up to a day, and never comes before its own time', () => {
    for (const status of [429, 503]) {
      assert.equal(waitOf(0, answeredWith(status, { retryAfterMs: 90_000 })), 90_000);
      assert.equal(waitOf(0, answeredWith(status, { retryAfterMs: 48 * HOUR })), 24 * HOUR);
      assert.equal(waitOf(1, answeredWith(status, { retryAfterMs: 1_000 })), 300_000);
    }
    assert.equal(waitOf(0, answeredWith(500, { retryAfterMs: 90_000 })), 5_000);
  });

  it('of a type that is no longer subscribed to is the last one', () => {
    assert.equal(after(0, answeredWith(500), MIDDLE, false).state, 'ended');
    assert.equal(after(0, answeredWith(200), MIDDLE, false).state, 'delivered');
  });
});

const FINE: Health = {
  ...HEALTHY,
  status: 'enabled',
  disabledReason: null,
  disabledAt: null,
  lastSuccessAt: null,
};
const later = (ms: number): Instant => instant(NOW + ms);

function failedTimes(count: number, health = FINE): Health {
  let now = health;
  for (let times = 0; times < count; times += 1)
    now = healthAfter(now, answeredWith(500), false, NOW);
  return now;
}

describe('an endpoint', () => {
  it('is probed after five failures in a row, and not after four', () => {
    assert.equal(failedTimes(4).probeAt, null);
    assert.equal(failedTimes(5).probeAt, later(5_000));
  });

  it('is probed after 5 s, 10 s, 20 s … up to 5 minutes', () => {
    const waits: number[] = [];
    let health = failedTimes(5);
    for (let times = 0; times < 9; times += 1) {
      const at = health.probeAt!;
      waits.push(at);
      health = healthAfter(health, failedWith('timeout'), true, at);
    }
    assert.deepEqual(
      waits.map((at, index) => at - (index === 0 ? NOW : waits[index - 1]!)),
      [5, 10, 20, 40, 80, 160, 300, 300, 300].map((seconds) => seconds * 1_000),
    );
    assert.equal(probeWaitMs(1_000), 300_000);
  });

  it("attempts in flight when the failures began do not extend an endpoint's backoff", () =>
    assert.equal(failedTimes(8).probeAt, failedTimes(5).probeAt));

  it('is healthy again after one 2xx', () => {
    assert.deepEqual(healthAfter(failedTimes(8), answeredWith(204), true, later(1)), {
      ...FINE,
      lastSuccessAt: later(1),
    });
  });

  it('that answers 410 is disabled at once', () => {
    const { status, disabledReason, disabledAt } = healthAfter(FINE, answeredWith(410), false, NOW);
    assert.deepEqual([status, disabledReason, disabledAt], ['disabled', 'answered_410', NOW]);
  });

  it('that only fails for five days is disabled, at the first failure after them', () => {
    const failing = failedTimes(1);
    assert.equal(
      healthAfter(failing, answeredWith(500), false, later(FAILING_MS - 1)).status,
      'enabled',
    );
    const { status, disabledReason } = healthAfter(
      failing,
      answeredWith(500),
      false,
      later(FAILING_MS),
    );
    assert.deepEqual([status, disabledReason], ['disabled', 'failing_for_5_days']);
    const mended = healthAfter(failing, answeredWith(200), false, later(FAILING_MS / 2));
    assert.equal(
      healthAfter(mended, answeredWith(500), false, later(FAILING_MS)).status,
      'enabled',
    );
  });

  it('that is disabled keeps the reason it was disabled for', () => {
    const disabled: Health = {
      ...FINE,
      status: 'disabled',
      disabledReason: 'by_tenant',
      disabledAt: NOW,
    };
    assert.equal(
      healthAfter(disabled, answeredWith(410), false, later(1)).disabledReason,
      'by_tenant',
    );
  });

  it('is due at its earliest delivery, but not before the next probe', () => {
    assert.equal(nextDue(null, failedTimes(5)), null);
    assert.equal(nextDue(NOW, FINE), NOW);
    assert.equal(nextDue(NOW, failedTimes(5)), later(5_000));
    assert.equal(nextDue(later(9_000), failedTimes(5)), later(9_000));
    assert.equal(nextDue(NOW, { ...FINE, status: 'disabled' }), null);
  });
});

describe('the workflow of an endpoint', () => {
  it('is notified only if its wait must begin, become shorter or end', () => {
    const due = later(60_000);
    for (const [waitsUntil, isNotified] of [
      [null, true],
      [later(60_001), true],
      [due, false],
      [later(1), false],
      [NOW, true],
    ] as const) {
      const { times, mustNotify } = dueTimesAfterRun({ pausedAt: null, waitsUntil }, due, NOW);
      assert.equal(mustNotify, isNotified, String(waitsUntil));
      assert.equal(times.nextDueAt, later(60_000 + WORKFLOW_HEAD_START_MS));
      assert.equal(times.waitsUntil, isNotified ? due : waitsUntil);
    }
    for (const [pausedAt, at] of [
      [NOW, due],
      [null, null],
      [null, NOW],
    ] as const)
      for (const waitsUntil of [null, due])
        assert.deepEqual(dueTimesAfterRun({ pausedAt, waitsUntil }, at, NOW), {
          times: { nextDueAt: at, waitsUntil: null },
          mustNotify: waitsUntil !== null,
        });
  });
});

describe('the delivery window', () => {
  const lane = (
    load: Partial<RunLoad>,
    health = FINE,
    now = NOW,
  ): ReturnType<typeof nextAttemptKind> =>
    nextAttemptKind(
      { pending: 0, retries: 0, inFlight: 0, retriesInFlight: 0, isSilent: false, ...load },
      health,
      now,
    );

  it('has eight slots', () => {
    assert.equal(lane({ pending: 1, inFlight: 7 }), 'pending');
    assert.equal(lane({ pending: 1, inFlight: 8 }), null);
    assert.equal(lane({}), null);
  });

  it('has two slots while the receiver is silent', () => {
    assert.equal(lane({ pending: 1, inFlight: 1, isSilent: true }), 'pending');
    assert.equal(lane({ pending: 1, inFlight: 2, isSilent: true }), null);
  });

  it('has two slots after a failure, until an attempt succeeds', () => {
    assert.equal(lane({ pending: 1, inFlight: 1 }, failedTimes(1)), 'pending');
    assert.equal(lane({ pending: 1, inFlight: 2 }, failedTimes(1)), null);
  });

  it('the window gives retries at most half of it while new deliveries wait, and all of it when none do', () => {
    assert.equal(lane({ pending: 1, retries: 1, inFlight: 3, retriesInFlight: 3 }), 'retry');
    assert.equal(lane({ pending: 1, retries: 1, inFlight: 4, retriesInFlight: 4 }), 'pending');
    assert.equal(lane({ retries: 1, inFlight: 7, retriesInFlight: 7 }), 'retry');
  });

  it('the window lets one probe through when its time has come, and nothing else', () => {
    const failing = failedTimes(5);
    assert.equal(lane({ pending: 9, retries: 9 }, failing, later(4_999)), null);
    assert.equal(lane({ pending: 9, retries: 9 }, failing, later(5_000)), 'probe');
    assert.equal(lane({ pending: 9, retries: 9, inFlight: 1 }, failing, later(5_000)), null);
  });

  it('the window lets nothing through to a disabled endpoint', () =>
    assert.equal(lane({ pending: 1 }, { ...FINE, status: 'disabled' }), null));
});

describe('the state of an endpoint', () => {
  const snapshot: EndpointSnapshot = {
    endpoint: {
      status: 'enabled',
      disabledReason: null,
      disabledAt: null,
      pausedAt: null,
      pausedBy: null,
      probeAt: null,
      recoverUntil: null,
    },
    pending: 0,
    retrying: 0,
    nextAttemptAt: null,
    unreadEvents: 0n,
    now: NOW,
    timeZone: 'UTC',
  };
  const words = (
    changes: Partial<EndpointSnapshot>,
    endpoint: Partial<EndpointSnapshot['endpoint']> = {},
  ): string =>
    describeEndpoint({ ...snapshot, ...changes, endpoint: { ...snapshot.endpoint, ...endpoint } });

  for (const [shown, expected] of [
    [words({}), 'no events to send'],
    [
      words({ retrying: 1, nextAttemptAt: later(300_000) }),
      'waiting until 14:05 UTC to retry 1 delivery',
    ],
    [
      words({ retrying: 1, nextAttemptAt: later(300_000), timeZone: 'America/Bogota' }),
      'waiting until 09:05 UTC-05:00 to retry 1 delivery',
    ],
    [
      words({ retrying: 3, nextAttemptAt: NOW }, { probeAt: later(300_000) }),
      'waiting until 14:05 UTC to retry 3 deliveries; one at a time until one succeeds',
    ],
    [
      words({ retrying: 3, nextAttemptAt: later(24 * HOUR) }),
      'waiting until 2030-03-05 14:00 UTC to retry 3 deliveries',
    ],
    [
      words({ pending: 8, unreadEvents: 1n }),
      '8 deliveries to send; 1 recorded event not read yet',
    ],
    [words({ retrying: 10_001, nextAttemptAt: NOW }), 'retrying more than 10000 deliveries'],
    [
      words({ unreadEvents: 2n }, { recoverUntil: 5n }),
      'resending missed events; 2 recorded events not read yet',
    ],
    [
      words({ pending: 1 }, { pausedAt: NOW, pausedBy: 'maria' }),
      'paused by maria since 14:00 UTC: nothing is sent until it is resumed; 1 delivery to send',
    ],
    [
      words({}, { status: 'disabled', disabledReason: 'failing_for_5_days', disabledAt: NOW }),
      'disabled because every attempt failed for 5 days since 14:00 UTC: nothing is sent until its tenant or an operator enables it',
    ],
    [
      words(
        { retrying: 2, nextAttemptAt: later(300_000) },
        { status: 'disabled', disabledReason: 'answered_410', disabledAt: NOW, probeAt: NOW },
      ),
      'disabled because its receiver answered 410 Gone since 14:00 UTC: nothing is sent until its tenant or an operator enables it; 2 deliveries to retry',
    ],
    [words({}, { status: 'deleted' }), 'deleted'],
  ] as const)
    it(`is described as: ${expected}`, () => assert.equal(shown, expected));
});
