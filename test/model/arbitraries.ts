import fc from 'fast-check';
import { ACCOUNT_COUNT, ACTORS, ASSETS, OWN_ACCOUNTS, type ZoneName, ZONES } from './operations.js';

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

export const oneOf = <T>(values: readonly T[]): fc.Arbitrary<T> => fc.constantFrom(...values);
/** Each of these values as often as its number says. */
export const weighted = <T extends string>(weights: Readonly<Record<T, number>>) =>
  oneOf(
    Object.entries<number>(weights).flatMap(([value, weight]) => Array<T>(weight).fill(value as T)),
  );

export const account = fc.nat({ max: ACCOUNT_COUNT - 1 });
export const ownAccount = fc.nat({ max: OWN_ACCOUNTS - 1 });
export const asset = fc.constantFrom(...ASSETS);
export const actor = oneOf([...ACTORS, ...Array<(typeof ACTORS)[number]>(18).fill('owner')]);
export const nth = fc.nat({ max: 10_000 });
/** A role of the clerk that lets approve. */
export const approving = oneOf(['approver', 'admin', 'owner'] as const);

/** The amount that one transfer may move without being refused. */
export const small = fc.bigInt({ min: 100_000n, max: 3_000_000n });
/** Around every limit there is, and beyond. */
export const raw = fc.oneof(
  { weight: 4, arbitrary: small },
  { weight: 5, arbitrary: fc.bigInt({ min: 400_000_000n, max: 1_250_000_000n }) },
  {
    weight: 1,
    arbitrary: oneOf([
      ...[0n, 1n, 99_999n, 100_000n, 1_200_000_000n, 1_200_000_001n, 3_000_000_000n],
      ...[2n ** 53n + 1n, 2n ** 63n - 1n],
    ]),
  },
);
export const paidIn = fc.oneof(
  { weight: 4, arbitrary: fc.bigInt({ min: 1n, max: 20_000_000n }) },
  { weight: 2, arbitrary: fc.bigInt({ min: 1_000_000_000n, max: 9_000_000_000n }) },
  { weight: 1, arbitrary: fc.constant(2n ** 53n + 1n) },
);

/** Mostly one of these accounts, so that money moves, and sometimes any. */
export const mostly = (weight: number, accounts: readonly number[]) =>
  fc.oneof({ weight, arbitrary: oneOf(accounts) }, ownAccount, account);

export const readFilter = {
  account,
  actor,
  asset: oneOf([...ASSETS, null]),
  kind: oneOf(KINDS),
  /** Milliseconds before now, inclusive; null for no bound. */
  sinceMs: oneOf([null, null, 0, 1, HOUR, 40 * 24 * HOUR]),
  untilMs: oneOf([null, null, null, 0, 1, HOUR]),
  /** Bounds on the amount, inclusive, of lists of operations with an asset. */
  least: oneOf([null, null, 100_000n, 1_000_000n]),
  most: oneOf([null, null, 100_000n, 3_000_000n]),
  /** The recipient of transfers and bonuses, or any bank account. */
  to: oneOf([...Array<null>(6).fill(null), 1, 2, 4, 5]),
  pair: oneOf([
    ...Array<null>(6).fill(null),
    ...([
      { name: 'invoice', value: 'A-17' },
      { name: 'order', value: '7' },
    ] as const),
  ]),
  /** The original of refunds. */
  original: fc.oneof({ weight: 5, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: nth }),
  limit: oneOf([7, 25, 100]),
  isUpward: fc.boolean(),
};
export type ReadFilter = Fields<typeof readFilter>;
/** Everything, in pages of 100. */
export const ALL: Omit<ReadFilter, 'actor'> = {
  ...{ account: 7, asset: null, kind: null, sinceMs: null, untilMs: null, limit: 100 },
  ...{ isUpward: false, least: null, most: null, to: null, pair: null, original: null },
};
export const zone = fc.constantFrom(...(Object.keys(ZONES) as ZoneName[]));

export type Value<Arbitrary> = Arbitrary extends fc.Arbitrary<infer T> ? T : never;
type Fields<Arbitraries> = { readonly [K in keyof Arbitraries]: Value<Arbitraries[K]> };

type Arbitraries = Readonly<Record<string, fc.Arbitrary<unknown>>>;

/** How often an operation is played beside the others, and the values of its fields. */
interface Weighted<Own extends Arbitraries> {
  readonly weight: number;
  readonly fields: Own;
}

export const often = <Own extends Arbitraries>(weight: number, fields: Own): Weighted<Own> => ({
  weight,
  fields,
});

/** Operations as plain data, so that a failing run is printed, shrunk and repeated as it is. */
export type OperationOf<Table> = {
  [Op in keyof Table]: Table[Op] extends Weighted<infer Own>
    ? { readonly op: Op } & Fields<Own>
    : never;
}[keyof Table];
