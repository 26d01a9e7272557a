import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  NO_PENDING_POLICY,
  planChange,
  type PolicyState,
  policyState,
} from '../../src/approvals/policy-rules.js';
import { requiredApprovals, policyRefusingBatch } from '../../src/approvals/rules.js';
import { newId } from '../../src/core/ids.js';
import { type Instant, instant } from '../../src/core/instant.js';
import type { ApprovalPolicyRow } from '../../src/db/entities/approvals.js';

const ACCOUNT = newId();
const START = Date.parse('2031-05-01T00:00:00.000Z');
const SECOND = 1_000;

/** As policies.ts writes it. */
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

/** The policy's effect on an amount at an instant; the larger, the stricter. */
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
  return policyRefusingBatch(row, raw, at) === null ? 0 : 1;
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
  it('during its delay, a change of an approval policy lets no amount pass that the old policy would have stopped', () => {
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
      { numRuns: 1_000 },
    );
  });

  const OLD = { threshold: 100n, approvals: 2, expiresInS: 3_600, refusesBatches: false };
  const REFUSING = { ...OLD, refusesBatches: true };
  for (const [what, old, wanted, waits] of [
    ['a lower threshold', OLD, { ...OLD, threshold: 99n }, false],
    ['more approvals', OLD, { ...OLD, approvals: 3 }, false],
    ['a shorter time', OLD, { ...OLD, expiresInS: 60 }, false],
    ['refused batches', OLD, REFUSING, false],
    ['a higher threshold', OLD, { ...OLD, threshold: 101n }, true],
    ['fewer approvals', OLD, { ...OLD, approvals: 1 }, true],
    ['a longer time', OLD, { ...OLD, expiresInS: 3_601 }, true],
    ['batches that are no longer refused', REFUSING, OLD, true],
    ['the removal of the policy', OLD, null, true],
  ] as const)
    it(`${waits ? 'waits' : 'applies at once'} if it asks for ${what}`, () => {
      const at = instant(START);
      const pending = { policy: wanted, effectiveAt: instant(START + 60 * SECOND) };
      assert.deepEqual(planChange({ current: old, pending: null }, wanted, 60, at), {
        ...(waits ? { current: old, pending } : { current: wanted, pending: null }),
        ...{ withdrawn: null, isRequest: waits },
      });
    });
});
