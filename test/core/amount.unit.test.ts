import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import {
  amountJson,
  ASSETS,
  calculateFee,
  type FeeSchedule,
  fitsColumn,
  formatAmount,
  MAX_RAW,
  parseRaw,
} from '../../src/core/amount.js';
import { filesUnder } from '../operating/pages.js';

describe('an amount', () => {
  it('is read exactly', () => {
    for (const text of ['0', '1', '10', '9007199254740993', '9223372036854775807']) {
      const raw = parseRaw(text);
      assert(raw !== null);
      assert.equal(amountJson({ raw, asset: 'COPM' }).raw, text);
    }
  });

  const refused: Readonly<Record<string, readonly string[]>> = {
    'with decimals': ['1.0', '1.', '.1', '1,0', '0.1', '1.00000000000000000001'],
    'with an exponent': ['1e3', '1E3', '1e+3', '0e0'],
    'with a sign': ['+1', '-1', '-0', '−1'],
    'with a space': [' 1', '1 ', '1 000', '\t1', '1\n', '\u00a01', '1\u2009000'],
    'with leading zeros': ['00', '01', '007', '0000000000000000000'],
    'with separators': ['1_000', "1'000", '1,000'],
    'in digits of other scripts': ['١', '१', '１', '𝟏', '一', '²'],
    'in another base': ['0x10', '0b1', '0o7', 'ff', '10n'],
    'that is a word': ['', 'NaN', 'Infinity', 'null', 'true', '[1]', '{}'],
    'over 64 bits': [
      '9223372036854775808',
      '18446744073709551615',
      '99999999999999999999',
      `1${'0'.repeat(400)}`,
    ],
  };
  it('is not read from text that is not digits', () => {
    for (const text of Object.values(refused).flat()) assert.equal(parseRaw(text), null, text);
  });

  it('every amount survives the conversion to text and back', () => {
    fc.assert(fc.property(fc.bigInt(0n, MAX_RAW), (raw) => parseRaw(raw.toString()) === raw));
  });

  it('is never read from text that is not in canonical form', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom(...'0123456789.-+eE xn١') })),
        (text) => {
          const raw = parseRaw(text);
          return raw === null || raw.toString() === text;
        },
      ),
    );
  });

  it('fits a column up to 2^63-1 on either side of zero', () => {
    for (const raw of [MAX_RAW, -MAX_RAW, 0n]) assert(fitsColumn(raw));
    for (const raw of [MAX_RAW + 1n, -MAX_RAW - 1n]) assert(!fitsColumn(raw));
  });

  it('is shown to people in whole units, exactly', () => {
    const shown = ([raw, asset]: readonly [bigint, 'COPM' | 'DUSD']): string =>
      formatAmount({ raw, asset });
    assert.deepEqual(
      (
        [
          [0n, 'COPM'],
          [5n, 'COPM'],
          [123_450n, 'COPM'],
          [-100_000_000n, 'COPM'],
          [1n, 'DUSD'],
          [MAX_RAW, 'DUSD'],
        ] as const
      ).map(shown),
      [
        '0.00 COPM',
        '0.05 COPM',
        '1,234.50 COPM',
        '-1,000,000.00 COPM',
        '0.000001 DUSD',
        '9,223,372,036,854.775807 DUSD',
      ],
    );
  });
});

describe('the list of assets', () => {
  it('is the only place of the code that names one', () => {
    const words = new RegExp(`\\b(?:${ASSETS.join('|')})\\b`);
    const code = ['src', 'workflows', 'activities', 'scripts/docs', 'packages/client/src'].flatMap(
      filesUnder,
    );
    const exempt = [
      'src/core/amount.ts',
      'packages/client/src/generated/schema.ts',
      'packages/client/src/bin/triggers.ts',
    ];
    const naming = code.filter(
      (file) => !exempt.includes(file) && words.test(readFileSync(file, 'utf8')),
    );
    assert.deepEqual(naming, []);
  });
});

const schedule = (changed: Partial<FeeSchedule>): FeeSchedule => ({
  flatRaw: 0n,
  basisPoints: 0n,
  floorRaw: 0n,
  capRaw: null,
  ...changed,
});

describe('a fee', () => {
  it('rounds its share half up, in integers', () => {
    const ten = schedule({ basisPoints: 10n });
    // 10 basis points of 499, 500, 1499 and 1500.
    assert.deepEqual(
      [499n, 500n, 1_499n, 1_500n].map((raw) => calculateFee(ten, raw)),
      [0n, 1n, 1n, 2n],
    );
  });

  it('is never under its floor nor over its cap', () => {
    const bounded = schedule({ basisPoints: 10n, floorRaw: 100n, capRaw: 500_000n });
    assert.deepEqual(
      [1n, 99_999n, 100_000n, 101_000n, 500_000_000n, 500_001_000n, MAX_RAW].map((raw) =>
        calculateFee(bounded, raw),
      ),
      [100n, 100n, 100n, 101n, 500_000n, 500_000n, 500_000n],
    );
    // The floor is that of the whole fee, of its flat part and its share.
    const flat = schedule({ flatRaw: 60n, basisPoints: 10n, floorRaw: 100n });
    assert.deepEqual(
      [10_000n, 50_000n].map((raw) => calculateFee(flat, raw)),
      [100n, 110n],
    );
  });

  it('is exact beyond 2^53', () => {
    assert.equal(
      calculateFee(schedule({ basisPoints: 10_000n }), 9_007_199_254_740_993n),
      9_007_199_254_740_993n,
    );
    assert.equal(calculateFee(schedule({ basisPoints: 1n }), MAX_RAW), 922_337_203_685_478n);
  });

  it('never exceeds the range of its column', () => {
    assert.equal(
      calculateFee(schedule({ flatRaw: MAX_RAW, basisPoints: 10_000n }), MAX_RAW),
      MAX_RAW,
    );
  });

  it('never falls when the amount grows', () => {
    const raw = fc.bigInt(0n, MAX_RAW);
    fc.assert(
      fc.property(raw, raw, fc.bigInt(0n, 10_000n), (a, b, basisPoints) => {
        const one = schedule({ basisPoints, floorRaw: 100n, capRaw: 500_000n });
        return a <= b
          ? calculateFee(one, a) <= calculateFee(one, b)
          : calculateFee(one, a) >= calculateFee(one, b);
      }),
    );
  });
});
