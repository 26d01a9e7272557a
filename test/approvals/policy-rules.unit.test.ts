import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  isSame,
  NO_PENDING_POLICY,
  planChange,
  type Policy,
  policyAt,
  type PolicyState,
  policyState,
} from '../../src/approvals/policy-rules.js';
import { requiredApprovals, batchRefusal } from '../../src/approvals/rules.js';
import { newId } from '../../src/core/ids.js';
import { type Instant, instant } from '../../src/core/instant.js';
import type { ApprovalPolicyRow } from '../../src/db/entities/approvals.js';

const ACCOUNT = newId();
const START = Date.parse('2031-05-01T00:00:00.000Z');
const SECOND = 1_000;

/** As policy-change.ts writes it. */
function rowOf({ current, pending }: PolicyState): ApprovalPolicyRow | undefined {
  if (current === null) return undefined;
  const next = pending && {
    nextThreshold: pending.policy?.threshold ?? null,
    nextApprovals: pending.policy?.approvals ?? null,
    nextExpiresInS: pending.policy?.expiresInS ?? null,
    nextRefusesBatches: pending.policy?.refusesBatches ?? null,
    effectiveAt: pending.effectiveAt,
    requestedChannel: 'api' as const,
    requestedBy: 'member:x',
  };
  return { accountId: ACCOUNT, asset: 'COPM', ...current, ...(next ?? NO_PENDING_POLICY) };
}

const policy = fc.record(
  {
    threshold: fc.bigInt({ min: 0n, max: 4n }),
    approvals: fc.integer({ min: 1, max: 3 }),
    expiresInS: fc.constantFrom(60, 120, 3_600),
    refusesBatches: fc.boolean(),
  },
  { noNullPrototype: true },
);
const step = fc.record({
  waitedMs: fc.integer({ min: 0, max: 20 * SECOND }),
  wanted: fc.option(policy, { freq: 4 }),
  delayS: fc.constantFrom(0, 1, 5, 10, 30),
});

/** What the policy does to an amount at an instant; the larger, the stricter. */
function strictness(
  row: ApprovalPolicyRow | undefined,
  raw: bigint,
  at: Instant,
): readonly number[] {
  const wanted = requiredApprovals(row, raw, at);
  return wanted === null ? [0, -Infinity] : [wanted.required, at - wanted.expiresAt];
}

/** 1 if validation rejects a batch of the amount at the instant, otherwise 0. */
function refuses(row: ApprovalPolicyRow | undefined, raw: bigint, at: Instant): number {
  return batchRefusal(row, raw, at) === null ? 0 : 1;
}

function assertNoLaxer(
  after: ApprovalPolicyRow | undefined,
  before: ApprovalPolicyRow | undefined,
  raw: bigint,
  at: Instant,
): void {
  const [now, then] = [strictness(after, raw, at), strictness(before, raw, at)];
  assert(now[0]! >= then[0]!, `${raw} needs ${now[0]} approvals and no longer ${then[0]}`);
  assert(now[1]! >= then[1]!, `${raw} waits longer than it did`);
  assert(
    refuses(after, raw, at) >= refuses(before, raw, at),
    `a batch of ${raw} is no longer refused`,
  );
}

describe('a change of an approval policy', () => {
  it('a change of an approval policy lets no amount pass, before its delay is over, that would not have passed without it', () => {
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 12 }),
        fc.integer({ min: 0, max: 40 * SECOND }),
        (steps, offset) => {
          let row: ApprovalPolicyRow | undefined;
          let now = START;
          for (const { waitedMs, wanted, delayS } of steps) {
            now += waitedMs;
            const at = instant(now);
            const plan = planChange(policyState(row, at), wanted, delayS, at);
            const changed = rowOf(plan);
            if (delayS > 0)
              for (const later of [0, delayS * SECOND - 1, offset % (delayS * SECOND)])
                for (const raw of [0n, 1n, 2n, 3n, 4n, 5n])
                  assertNoLaxer(changed, row, raw, instant(now + later));
            row = changed;
          }
        },
      ),
      { numRuns: 3_000 },
    );
  });

  it('a change of an approval policy is fully in force once what it weakens has waited, and shows that until then', () => {
    fc.assert(
      fc.property(
        fc.option(policy),
        fc.option(policy),
        fc.constantFrom(0, 1, 30),
        (first, wanted, delayS) => {
          const at = instant(START);
          const plan = planChange({ current: first, pending: null }, wanted, delayS, at);
          const over = instant(START + delayS * SECOND);
          assert(isSame(policyAt(rowOf(plan), over), wanted));
          const before = policyState(rowOf(plan), instant(over - 1));
          if (plan.pending !== null)
            assert.deepEqual(before.pending, { policy: wanted, effectiveAt: over });
          else assert(isSame(plan.current, wanted));
        },
      ),
    );
  });

  const OLD: Policy = { threshold: 100n, approvals: 2, expiresInS: 3_600, refusesBatches: false };
  const at = instant(START);
  const late = instant(START + 60 * SECOND);
  const STATE: PolicyState = { current: OLD, pending: null };

  for (const [what, change] of [
    ['a lower threshold', { threshold: 99n }],
    ['more approvals', { approvals: 3 }],
    ['a shorter time', { expiresInS: 60 }],
    ['refused batches', { refusesBatches: true }],
    ['nothing else', {}],
  ] as const)
    it(`a change of an approval policy applies at once if it asks for ${what}`, () => {
      const wanted = { ...OLD, ...change };
      const plan = { current: wanted, pending: null, withdrawn: null, isRequest: false };
      assert.deepEqual(planChange(STATE, wanted, 60, at), plan);
    });

  for (const [what, wanted] of [
    ['a higher threshold', { ...OLD, threshold: 101n }],
    ['fewer approvals', { ...OLD, approvals: 1 }],
    ['a longer time', { ...OLD, expiresInS: 3_601 }],
    ['nothing at all', null],
  ] as const)
    it(`a change of an approval policy waits if it asks for ${what}`, () => {
      const pending = { policy: wanted, effectiveAt: late };
      const plan = { current: OLD, pending, withdrawn: null, isRequest: true };
      assert.deepEqual(planChange(STATE, wanted, 60, at), plan);
    });

  it('a change of an approval policy waits if it no longer refuses batches', () => {
    const refusing = { ...OLD, refusesBatches: true };
    const plan = planChange({ current: refusing, pending: null }, OLD, 60, at);
    const pending = { policy: OLD, effectiveAt: late };
    assert.deepEqual(plan, { current: refusing, pending, withdrawn: null, isRequest: true });
  });
});
