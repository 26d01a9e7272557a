import assert from 'node:assert/strict';
import type { Bonus } from '../../src/db/entities/bonuses.js';
import type { Transfer, TransferStatus } from '../../src/db/entities/operations.js';
import {
  countRefund,
  type Original,
  refundableRaw,
  refundRefusal,
} from '../../src/transfers/originals.js';

/** A row with only the columns that the rules read. */
const transfer = (more: Partial<Transfer> = {}): Original =>
  ({
    ...{ asset: 'COPM', raw: 100n, feeRaw: 5n, feeAccountId: null, status: 'completed' },
    ...{ capturedRaw: null, capturedFeeRaw: null, refundedRaw: 0n, refundingRaw: 0n },
    ...{ refundOfType: null, refundOfId: null, destinationAccountId: 'b', ...more },
  }) as unknown as Transfer;
const bonus = (more: Partial<Bonus> = {}): Original =>
  ({
    ...{ asset: 'COPM', raw: 100n, refundedRaw: 0n, refundingRaw: 0n, recipientAccountId: 'b' },
    ...more,
  }) as unknown as Bonus;
const refund = transfer({ refundOfType: 'transfer', refundOfId: 'a' as Transfer['id'] });

/** Requested amounts of originals, with the code of the refusal and the refundable amount. */
const CASES: readonly (readonly [
  what: string,
  original: Original,
  requested: bigint | null,
  code: string | null,
  left?: bigint,
])[] = [
  ['all of a transfer', transfer(), 100n, null],
  ['what is left of a transfer', transfer({ refundedRaw: 60n, refundingRaw: 39n }), null, null],
  ['the smallest part', transfer(), 1n, null],
  ['more than the amount', transfer(), 101n, 'refund_exceeds_amount', 100n],
  ['more than is left', transfer({ refundedRaw: 60n }), 41n, 'refund_exceeds_amount', 40n],
  [
    'what a waiting refund reserves',
    transfer({ refundingRaw: 60n }),
    41n,
    'refund_exceeds_amount',
    40n,
  ],
  ['all where nothing is left', transfer({ refundedRaw: 100n }), null, 'refund_exceeds_amount', 0n],
  [
    'a part where nothing is left',
    transfer({ refundedRaw: 100n }),
    1n,
    'refund_exceeds_amount',
    0n,
  ],
  ['nothing', transfer(), 0n, 'below_minimum'],
  ['nothing where nothing is left', transfer({ refundedRaw: 100n }), 0n, 'below_minimum'],
  ['all that was captured', transfer({ capturedRaw: 70n, capturedFeeRaw: 3n }), null, null],
  ['more than was captured', transfer({ capturedRaw: 70n }), 71n, 'refund_exceeds_amount', 70n],
  ['a refund', refund, null, 'not_refundable'],
  ['all of a bonus', bonus(), null, null],
  ['more than is left of a bonus', bonus({ refundedRaw: 1n }), 100n, 'refund_exceeds_amount', 99n],
  ...(['pending_approval', 'held', 'rejected', 'expired'] satisfies TransferStatus[]).map(
    (status) =>
      [`a transfer that is ${status}`, transfer({ status }), 0n, 'invalid_state'] as const,
  ),
];

describe('the rules of refunds', () => {
  for (const [what, original, requested, code, left] of CASES)
    it(`${what}: ${code ?? 'allowed'}`, () => {
      const refusal = refundRefusal(original, requested);
      assert.equal(refusal?.code ?? null, code);
      if (left !== undefined) {
        const refundable = { raw: left.toString(), asset: 'COPM' };
        assert.deepEqual(refusal?.details, { refundable });
      }
    });

  it('what was refunded and what waits leave what can be refunded', () => {
    const state = { refundedRaw: 10n, refundingRaw: 20n };
    const of = (status: TransferStatus, hasWaited: boolean): readonly bigint[] => {
      const sums = countRefund(state, { raw: 20n, status }, hasWaited);
      return [sums.refundedRaw, sums.refundingRaw, refundableRaw(transfer(sums))];
    };
    assert.deepEqual(of('completed', false), [30n, 20n, 50n]);
    assert.deepEqual(of('pending_approval', false), [10n, 40n, 50n]);
    assert.deepEqual(of('completed', true), [30n, 0n, 70n]);
    assert.deepEqual(of('rejected', true), [10n, 0n, 90n]);
    assert.deepEqual(of('expired', true), [10n, 0n, 90n]);
  });
});
