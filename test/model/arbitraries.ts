import fc from 'fast-check';
import {
  ACCOUNT_COUNT,
  ACTORS,
  type ActorName,
  ASSETS,
  type Operation,
  OWN_ACCOUNTS,
} from './operations.js';

/** The values that the operations of a run are made of. */

const KINDS = [
  'transfer_in',
  'transfer_out',
  'payin_in',
  'fee_out',
  'adjustment_in',
  'adjustment_out',
  'bonus_in',
  'bonus_out',
  'payout_out',
  null,
];
export const HOUR = 3_600_000;

export const account = fc.nat({ max: ACCOUNT_COUNT - 1 });
export const ownAccount = fc.nat({ max: OWN_ACCOUNTS - 1 });
export const asset = fc.constantFrom(...ASSETS);
export const actor = fc.oneof(
  { weight: 6, arbitrary: fc.constant<ActorName>('owner') },
  fc.constantFrom(...ACTORS),
);
export const nth = fc.nat({ max: 10_000 });
export const oneOf = <T>(values: readonly T[]): fc.Arbitrary<T> => fc.constantFrom(...values);

/** Around every limit there is, and beyond. */
export const raw = fc.oneof(
  { weight: 4, arbitrary: fc.bigInt({ min: 100_000n, max: 3_000_000n }) },
  { weight: 5, arbitrary: fc.bigInt({ min: 400_000_000n, max: 1_250_000_000n }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      0n,
      1n,
      99_999n,
      100_000n,
      1_200_000_000n,
      1_200_000_001n,
      3_000_000_000n,
      2n ** 53n + 1n,
      2n ** 63n - 1n,
    ),
  },
);
export const paidIn = fc.oneof(
  { weight: 4, arbitrary: fc.bigInt({ min: 1n, max: 20_000_000n }) },
  { weight: 2, arbitrary: fc.bigInt({ min: 1_000_000_000n, max: 9_000_000_000n }) },
  { weight: 1, arbitrary: fc.constant(2n ** 53n + 1n) },
);

export const readFilter = {
  account,
  actor,
  asset: oneOf([...ASSETS, null]),
  kind: oneOf(KINDS),
  sinceMs: oneOf([null, null, 0, 1, HOUR, 40 * 24 * HOUR]),
  limit: oneOf([7, 25, 100]),
  isUpward: fc.boolean(),
};

export function operation<const Name extends Operation['op'], Fields extends object>(
  name: Name,
  fields: { [K in keyof Fields]: fc.Arbitrary<Fields[K]> },
): fc.Arbitrary<{ op: Name } & Fields> {
  return fc.record(fields).map((values) => ({ op: name, ...(values as Fields) }));
}

/** How often an operation is played beside the others. */
export interface Weighted {
  readonly weight: number;
  readonly arbitrary: fc.Arbitrary<Operation>;
}
