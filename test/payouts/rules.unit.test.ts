import assert from 'node:assert/strict';
import { asUuid } from '../../src/core/ids.js';
import { instant } from '../../src/core/instant.js';
import type { Payout } from '../../src/db/entities/payouts.js';
import { chooseRail, failureCode, FAILURES } from '../../src/payouts/rails/rail.js';
import { railHeaders, verify, WINDOW_S } from '../../src/payouts/rails/wire.js';
import type { RailFact } from '../../src/payouts/rail-fact.js';
import { endOfNumber, nextInstant, nextPoll } from '../../src/payouts/rules.js';

describe('the failure that a rail reports', () => {
  it('every failure code of a rail, known or unknown, is mapped to a failure of the API', () => {
    assert.equal(failureCode('account_closed'), 'account_closed');
    assert.equal(failureCode('what nobody has heard of'), 'rejected_by_bank');
    assert.equal(failureCode('toString'), 'rejected_by_bank');
    for (const message of Object.values(FAILURES)) assert(message.length <= 140);
  });
});

describe('the transitions of a payout', () => {
  const base = { status: 'approved', createdAt: instant(1_000), approvalsRequired: null } as Payout;
  const at = (ms: number) => instant(ms);

  it('never run backwards, even if clocks differ', () => {
    const payout = {
      ...base,
      approvedAt: at(1_000),
      submittedAt: at(9_000),
      failedAt: null,
      endedAt: null,
      returnedAt: null,
    };
    assert.equal(nextInstant(payout, at(5_000)), 9_000);
    assert.equal(nextInstant(payout, at(9_500)), 9_500);
  });
});

const FACTS: readonly RailFact[] = ['may_pay', 'paid', 'returned', 'denied'];

describe('a payout that has ended', () => {
  const HOUR = 3_600_000;
  const window = 60 * 24 * HOUR;
  const base = { endedAt: instant(0), returnedAt: null, stuckSince: null, stuckReason: null };
  const payout = (change: Partial<Payout>) => ({ ...base, ...change }) as Payout;
  const untilOver = (of: Payout, from: number, fact: RailFact = 'paid'): number[] => {
    const asked: number[] = [];
    let at = nextPoll(of, fact, instant(from), window);
    while (at !== null && asked.length < 100) {
      asked.push(at);
      at = nextPoll(of, fact, at, window);
    }
    return asked;
  };

  it('a completed payout is polled after an hour, then less and less often, and last when the return window closes', () => {
    const asked = untilOver(payout({ status: 'completed' }), 0).map((at) => at / HOUR);
    assert.deepEqual(asked, [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024, 1_440]);
  });

  it('an ended payout is polled in its window until its rail has confirmed that no money is at the bank', () => {
    const end = { completed: null, failed: 'denied', returned: 'returned' } as const;
    for (const status of ['completed', 'failed', 'returned'] as const)
      for (const fact of FACTS) {
        const returnedAt = status === 'returned' ? instant(5 * HOUR) : null;
        const polls = untilOver(payout({ status, returnedAt }), returnedAt ?? 0, fact);
        const last = fact === end[status] ? undefined : (returnedAt ?? 0) + window;
        assert.equal(polls.at(-1), last, `${status} ${fact}`);
      }
    for (const status of ['rejected', 'canceled'] as const)
      assert.equal(nextPoll(payout({ status }), 'may_pay', instant(0), window), null);
    const open = payout({ status: 'in_progress', endedAt: null });
    assert.equal(nextPoll(open, 'may_pay', instant(0), window), null);
  });

  it('an ended payout is polled more often as long as its rail contradicts it', () => {
    const raised = payout({ status: 'failed', stuckSince: instant(0) });
    const pauses = untilOver(raised, 0, 'denied')
      .slice(0, 9)
      .map((at, index, all) => (at - (all[index - 1] ?? 0)) / 60_000);
    assert.deepEqual(pauses, [1, 1, 2, 4, 8, 16, 32, 60, 60]);
    assert.equal(untilOver(raised, 10 * window).length, 100);
  });
});

describe('an account number', () => {
  it('shows at most its last four characters, and never more than half of it', () => {
    for (const [number, shown] of [
      ['1234', '34'],
      ['12345', '45'],
      ['123456', '456'],
      ['1234567', '567'],
      ['12345678', '5678'],
      ['45678912340099', '0099'],
    ] as const)
      assert.equal(endOfNumber(number), shown);
  });
});

describe('the rail of a payout', () => {
  const tenant = { id: asUuid('018f0000-0000-7000-8000-000000000001'), name: 'acme' };
  const route = (tenantName: string, country: string, rail: string) => ({
    tenant: tenantName,
    country,
    rail,
  });

  it('is the one with the most specific route: the tenant before the country', () => {
    const routes = [
      route('*', '*', 'a'),
      route('*', 'CO', 'b'),
      route('acme', '*', 'c'),
      route('acme', 'CO', 'd'),
    ];
    assert.equal(chooseRail(routes, tenant, 'CO'), 'd');
    assert.equal(chooseRail(routes, tenant, 'US'), 'c');
    assert.equal(chooseRail(routes, { ...tenant, name: 'globex' }, 'CO'), 'b');
    assert.equal(chooseRail(routes, { ...tenant, name: 'globex' }, 'US'), 'a');
    assert.equal(chooseRail([route(tenant.id, 'CO', 'e')], tenant, 'CO'), 'e');
    assert.equal(
      chooseRail([route('acme', 'US', 'a'), route('globex', '*', 'b')], tenant, 'CO'),
      null,
    );
  });
});

describe('a signed message', () => {
  const keys = [
    { id: 'new', secret: Buffer.alloc(32, 1) },
    { id: 'old', secret: Buffer.alloc(32, 2) },
  ] as const;
  const now = instant(1_800_000_000_000);
  const message = {
    method: 'POST',
    path: '/rails/a/callbacks',
    body: Buffer.from('{"a":1}'),
  } as const;

  it('is genuine under each key that is known, within the window in both directions', () => {
    for (const key of keys)
      assert.equal(verify(keys, railHeaders(key, message, now), message, now), 'genuine');
    const headers = railHeaders(keys[0], message, now);
    assert.equal(verify(keys, headers, message, instant(now + WINDOW_S * 1_000)), 'genuine');
    assert.equal(verify(keys, headers, message, instant(now + WINDOW_S * 1_000 + 1)), 'late');
    assert.equal(verify(keys, headers, message, instant(now - WINDOW_S * 1_000 - 1)), 'late');
  });

  it('is forged if anything that was signed differs', () => {
    const headers = railHeaders(keys[0], message, now);
    const wrong = (changed: object, of = headers) =>
      assert.equal(verify(keys, of, { ...message, ...changed }, now), 'forged');
    wrong({ body: Buffer.from('{"a":2}') });
    wrong({ path: '/rails/b/callbacks' });
    wrong({ method: 'GET' });
    wrong({}, { ...headers, 'rail-timestamp': String(now / 1_000 + 1) });
    wrong({}, { ...headers, 'rail-key-id': 'old' });
    wrong({}, { ...headers, 'rail-key-id': 'unknown' });
    wrong({}, { ...headers, 'rail-signature': headers['rail-signature']!.toUpperCase() });
    wrong({}, { ...headers, 'rail-signature': '' });
    wrong({}, {});
    wrong({}, railHeaders({ id: 'new', secret: Buffer.alloc(32, 3) }, message, now));
  });
});
