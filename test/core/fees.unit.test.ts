import assert from 'node:assert/strict';
import fc from 'fast-check';
import { feeFor, type FeeSchedule, MAX_RAW } from '../../src/core/amount.js';

const schedule = (changed: Partial<FeeSchedule>): FeeSchedule => ({
  flatRaw: 0n,
  basisPoints: 0n,
  floorRaw: 0n,
  capRaw: null,
  ...changed,
});

describe('a fee', () => {
  it('a fee is nothing by default', () => {
    assert.equal(feeFor(schedule({}), 1_000_000n), 0n);
  });

  it('a fee rounds its share half up, in integers', () => {
    const ten = schedule({ basisPoints: 10n });
    // 10 basis points of 499, 500, 1499 and 1500.
    assert.deepEqual(
      [499n, 500n, 1_499n, 1_500n].map((raw) => feeFor(ten, raw)),
      [0n, 1n, 1n, 2n],
    );
  });

  it('a fee adds the flat part to the share', () => {
    assert.equal(feeFor(schedule({ flatRaw: 250n, basisPoints: 100n }), 10_000n), 350n);
  });

  it('a fee is never under its floor nor over its cap', () => {
    const bounded = schedule({ basisPoints: 10n, floorRaw: 100n, capRaw: 500_000n });
    assert.deepEqual(
      [1n, 99_999n, 100_000n, 101_000n, 500_000_000n, 500_001_000n, MAX_RAW].map((raw) =>
        feeFor(bounded, raw),
      ),
      [100n, 100n, 100n, 101n, 500_000n, 500_000n, 500_000n],
    );
  });

  it('a fee is exact beyond 2^53', () => {
    assert.equal(
      feeFor(schedule({ basisPoints: 10_000n }), 9_007_199_254_740_993n),
      9_007_199_254_740_993n,
    );
    assert.equal(feeFor(schedule({ basisPoints: 1n }), MAX_RAW), 922_337_203_685_478n);
  });

  it('a fee never leaves what a column holds', () => {
    assert.equal(feeFor(schedule({ flatRaw: MAX_RAW, basisPoints: 10_000n }), MAX_RAW), MAX_RAW);
  });

  it('a fee never falls when the amount grows', () => {
    const raw = fc.bigInt(0n, MAX_RAW);
    fc.assert(
      fc.property(raw, raw, fc.bigInt(0n, 10_000n), (a, b, basisPoints) => {
        const one = schedule({ basisPoints, floorRaw: 100n, capRaw: 500_000n });
        return a <= b ? feeFor(one, a) <= feeFor(one, b) : feeFor(one, a) >= feeFor(one, b);
      }),
    );
  });
});
