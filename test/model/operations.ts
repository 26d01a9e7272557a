import fc from 'fast-check';

/** What a model run does, as plain data: so that a failing run is printed, shrunk and repeated as it is. */

export const ASSETS = ['COPM', 'DUSD'] as const;
export type AssetName = (typeof ASSETS)[number];

/** Who acts: the owner of tenant A's accounts, a member of A whose roles come and go, the owner of tenant B's accounts. */
export const ACTORS = ['owner', 'clerk', 'neighbour'] as const;
export type ActorName = (typeof ACTORS)[number];

/** Accounts by number: 0 to 4 of tenant A, 5 of B in its network, 6 of a stranger, 7 does not exist. */
export const ACCOUNT_COUNT = 8;
export const OWN_ACCOUNTS = 5;

export const MALFORMED = ['no key', 'no amount', 'decimals', 'unknown field', 'no JSON', 'to itself'] as const;

export interface ReadFilter {
  readonly account: number;
  readonly actor: ActorName;
  readonly asset: AssetName | null;
  readonly kind: string | null;
  /** Milliseconds before now, inclusive; null for no bound. */
  readonly sinceMs: number | null;
  readonly limit: number;
  readonly isUpward: boolean;
}

export interface TransferOperation {
  readonly op: 'transfer';
  readonly actor: ActorName;
  readonly from: number;
  readonly to: number;
  readonly asset: AssetName;
  readonly raw: bigint;
  readonly description: string | null;
}

export interface BonusOperation {
  readonly op: 'bonus';
  readonly actor: ActorName;
  readonly from: number;
  readonly to: number;
  /** How the recipient is named; whoever has no alias is named by the id. */
  readonly by: 'account_id' | 'alias';
  readonly asset: AssetName;
  readonly raw: bigint;
  readonly description: string | null;
  readonly reference: string | null;
}

export type Operation =
  | TransferOperation
  | BonusOperation
  /** An earlier bonus once more: word for word, or with its key for another amount. */
  | { readonly op: 'bonus again'; readonly nth: number; readonly actor: ActorName; readonly more: bigint }
  /** All that the account has, and so much more. */
  | {
      readonly op: 'sweep';
      readonly from: number;
      readonly to: number;
      readonly asset: AssetName;
      readonly more: bigint;
    }
  /** An earlier request once more, word for word. */
  | { readonly op: 'again'; readonly nth: number; readonly actor: ActorName }
  /** The key of an earlier request for another amount. */
  | { readonly op: 'key reused'; readonly nth: number; readonly actor: ActorName; readonly more: bigint }
  | { readonly op: 'malformed'; readonly what: (typeof MALFORMED)[number] }
  | { readonly op: 'pay in'; readonly account: number; readonly asset: AssetName; readonly raw: bigint }
  /** The last pay-in's reference once more, with the same content or another. */
  | { readonly op: 'pay in again'; readonly isSame: boolean }
  | {
      readonly op: 'adjust';
      readonly account: number;
      readonly asset: AssetName;
      readonly raw: bigint;
      readonly direction: 'in' | 'out';
      readonly isPosted: boolean;
    }
  | { readonly op: 'verify'; readonly account: number; readonly actor: ActorName }
  | { readonly op: 'freeze'; readonly account: number; readonly isFrozen: boolean }
  | { readonly op: 'role'; readonly account: number; readonly role: string | null }
  | { readonly op: 'fee account'; readonly account: number }
  | {
      readonly op: 'fee';
      readonly asset: AssetName;
      readonly flat: bigint;
      readonly basisPoints: bigint;
      readonly cap: bigint | null;
    }
  | { readonly op: 'no fee'; readonly asset: AssetName }
  | {
      readonly op: 'policy';
      readonly account: number;
      readonly asset: AssetName;
      readonly actor: ActorName;
      readonly threshold: bigint;
      readonly approvals: number;
      readonly expiresInS: number;
    }
  | {
      readonly op: 'policy delay';
      readonly seconds: number | null;
    }
  | {
      readonly op: 'no policy' | 'read policy';
      readonly account: number;
      readonly asset: AssetName;
      readonly actor: ActorName;
    }
  /** What a member does with one that waits or, with `isAny`, with whichever transfer there is. */
  | {
      readonly op: 'act';
      readonly verb: 'approve' | 'reject' | 'cancel';
      readonly nth: number;
      readonly actor: ActorName;
      readonly isAny: boolean;
      /** And at once again. */
      readonly isTwice: boolean;
      /** What happens before: its time passes, or its source is frozen for as long as the act takes. */
      readonly meanwhile: 'time' | 'freeze' | null;
    }
  /** A small transfer of an account that is funded for it and whose policy asks for so many approvals of everything. */
  | {
      readonly op: 'pend';
      readonly from: number;
      readonly to: number;
      readonly asset: AssetName;
      readonly raw: bigint;
      readonly approvals: number;
      readonly expiresInS: number;
      /** Of the clerk. */
      readonly role: string;
    }
  /** An earlier approve once more, with its key. */
  | { readonly op: 'approve again'; readonly nth: number; readonly actor: ActorName }
  /** The same by somebody of the staff, or somebody who only says so. */
  | {
      readonly op: 'staff act';
      readonly verb: 'approve' | 'reject' | 'cancel';
      readonly nth: number;
      readonly isStaff: boolean;
      readonly isAny: boolean;
    }
  /** The timer of one that waits, whether it is its time or not. */
  | { readonly op: 'timer'; readonly nth: number; readonly isDue: boolean }
  | { readonly op: 'time passes'; readonly ms: number }
  | { readonly op: 'read balances'; readonly account: number; readonly actor: ActorName }
  | { readonly op: 'read limits'; readonly account: number; readonly actor: ActorName }
  | ({ readonly op: 'read movements' } & ReadFilter)
  | ({ readonly op: 'read transfers' } & ReadFilter)
  | { readonly op: 'read transfer'; readonly nth: number; readonly actor: ActorName }
  | { readonly op: 'find by key'; readonly nth: number; readonly actor: ActorName }
  | ({ readonly op: 'read bonuses' } & ReadFilter)
  | { readonly op: 'read bonus'; readonly nth: number; readonly actor: ActorName }
  | ({ readonly op: 'read events' } & ReadFilter)
  | { readonly op: 'read event'; readonly nth: number; readonly actor: ActorName };

const ROLES = ['viewer', 'operator', 'approver', 'admin', 'owner', null];
const KINDS = [
  'transfer_in',
  'transfer_out',
  'payin_in',
  'fee_out',
  'adjustment_in',
  'adjustment_out',
  'bonus_in',
  'bonus_out',
  null,
];
const HOUR = 3_600_000;

const account = fc.nat({ max: ACCOUNT_COUNT - 1 });
const ownAccount = fc.nat({ max: OWN_ACCOUNTS - 1 });
const asset = fc.constantFrom(...ASSETS);
const actor = fc.oneof({ weight: 6, arbitrary: fc.constant<ActorName>('owner') }, fc.constantFrom(...ACTORS));
const nth = fc.nat({ max: 10_000 });
const oneOf = <T>(values: readonly T[]): fc.Arbitrary<T> => fc.constantFrom(...values);

/** Around every limit there is, and beyond. */
const raw = fc.oneof(
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
const paidIn = fc.oneof(
  { weight: 4, arbitrary: fc.bigInt({ min: 1n, max: 20_000_000n }) },
  { weight: 2, arbitrary: fc.bigInt({ min: 1_000_000_000n, max: 9_000_000_000n }) },
  { weight: 1, arbitrary: fc.constant(2n ** 53n + 1n) },
);

const readFilter = {
  account,
  actor,
  asset: oneOf([...ASSETS, null]),
  kind: oneOf(KINDS),
  sinceMs: oneOf([null, null, 0, 1, HOUR, 40 * 24 * HOUR]),
  limit: oneOf([7, 25, 100]),
  isUpward: fc.boolean(),
};

function operation<const Name extends Operation['op'], Fields extends object>(
  name: Name,
  fields: { [K in keyof Fields]: fc.Arbitrary<Fields[K]> },
): fc.Arbitrary<{ op: Name } & Fields> {
  return fc.record(fields).map((values) => ({ op: name, ...(values as Fields) }));
}

const transfer = operation('transfer', {
  actor,
  // Mostly between accounts that can, so that money moves.
  from: fc.oneof({ weight: 6, arbitrary: oneOf([0, 0, 2, 3]) }, ownAccount, account),
  to: fc.oneof({ weight: 5, arbitrary: oneOf([1, 2, 4, 5]) }, ownAccount, account),
  asset,
  raw,
  description: oneOf([null, '', 'Rent', 'Café 💸']),
});

const bonus = operation('bonus', {
  actor,
  // In DUSD no policy of the prelude asks for an approval, which no bonus can wait for.
  from: fc.oneof({ weight: 6, arbitrary: oneOf([0, 0, 2, 3]) }, ownAccount, account),
  to: fc.oneof({ weight: 5, arbitrary: oneOf([1, 2, 3, 5]) }, ownAccount, account),
  by: oneOf(['account_id', 'account_id', 'alias'] as const),
  asset,
  raw,
  description: oneOf([null, '', 'Well done']),
  reference: oneOf([null, 'nov-1', 'ñ'.repeat(64)]),
});

/** What every run begins with: money in the accounts that can send, policies in two, and a clerk who may approve there. */
export const PRELUDE: readonly Operation[] = [
  ...[0, 2, 3].flatMap((number) =>
    ASSETS.map(
      (name) =>
        ({ op: 'pay in', account: number, asset: name, raw: number === 0 ? 9_000_000_000n : 1_000_000_000n }) as const,
    ),
  ),
  ...[0, 2].map(
    (number) =>
      ({
        op: 'policy',
        account: number,
        asset: 'COPM',
        actor: 'owner',
        threshold: number === 0 ? 400_000_000n : 0n,
        approvals: number === 0 ? 1 : 2,
        expiresInS: 3_600,
      }) as const,
  ),
  { op: 'role', account: 0, role: 'admin' },
  { op: 'role', account: 2, role: 'approver' },
  { op: 'role', account: 3, role: 'owner' },
];

export const operations: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 30, arbitrary: transfer },
  { weight: 20, arbitrary: bonus },
  { weight: 5, arbitrary: operation('bonus again', { nth, actor, more: oneOf([0n, 0n, 1n]) }) },
  {
    weight: 4,
    arbitrary: operation('sweep', { from: oneOf([2, 3, 4]), to: ownAccount, asset, more: oneOf([-1n, 0n, 0n, 1n]) }),
  },
  { weight: 8, arbitrary: operation('again', { nth, actor }) },
  { weight: 4, arbitrary: operation('key reused', { nth, actor, more: fc.bigInt({ min: 1n, max: 9n }) }) },
  { weight: 3, arbitrary: operation('malformed', { what: oneOf(MALFORMED) }) },
  { weight: 9, arbitrary: operation('pay in', { account: fc.nat({ max: OWN_ACCOUNTS }), asset, raw: paidIn }) },
  { weight: 2, arbitrary: operation('pay in again', { isSame: fc.boolean() }) },
  {
    weight: 4,
    arbitrary: operation('adjust', {
      account: ownAccount,
      asset,
      raw: fc.bigInt({ min: 1n, max: 5_000_000n }),
      direction: oneOf(['in', 'out'] as const),
      isPosted: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: operation('verify', { account, actor }) },
  { weight: 2, arbitrary: operation('freeze', { account: ownAccount, isFrozen: oneOf([true, false, false, false]) }) },
  { weight: 4, arbitrary: operation('role', { account: ownAccount, role: oneOf(ROLES) }) },
  { weight: 1, arbitrary: operation('fee account', { account: ownAccount }) },
  {
    weight: 2,
    arbitrary: operation('fee', {
      asset,
      flat: oneOf([0n, 1n, 700n]),
      basisPoints: oneOf([0n, 1n, 25n, 10_000n]),
      cap: oneOf([null, 500n]),
    }),
  },
  { weight: 1, arbitrary: operation('no fee', { asset }) },
  {
    weight: 3,
    arbitrary: operation('policy', {
      account: oneOf([0, 0, 2, 3, 5, 6]),
      asset,
      actor,
      threshold: oneOf([0n, 1_000_000n, 400_000_000n]),
      approvals: oneOf([1, 2, 2, 3]),
      expiresInS: oneOf([60, 3_600, 604_800]),
    }),
  },
  { weight: 1, arbitrary: operation('policy delay', { seconds: oneOf([null, null, 90, 1_800]) }) },
  { weight: 1, arbitrary: operation('no policy', { account, asset, actor }) },
  { weight: 2, arbitrary: operation('read policy', { account, asset, actor }) },
  {
    weight: 60,
    arbitrary: operation('act', {
      verb: oneOf(['approve', 'approve', 'approve', 'approve', 'reject', 'cancel'] as const),
      nth,
      // The owner creates most of them, so that the clerk may approve.
      actor: oneOf(['clerk', 'clerk', 'clerk', 'clerk', 'clerk', 'clerk', 'owner', 'neighbour'] as const),
      isAny: oneOf([false, false, false, false, false, false, true]),
      isTwice: oneOf([false, true]),
      meanwhile: oneOf([null, null, null, 'time', 'freeze', 'freeze', 'freeze'] as const),
    }),
  },
  {
    weight: 40,
    arbitrary: operation('pend', {
      from: oneOf([0, 2, 2, 3, 3]),
      to: oneOf([1, 4, 5]),
      asset,
      raw: fc.bigInt({ min: 100_000n, max: 3_000_000n }),
      approvals: oneOf([1, 1, 2, 3]),
      expiresInS: oneOf([60, 604_800, 2_592_000, 2_592_000]),
      role: oneOf(['approver', 'admin', 'owner']),
    }),
  },
  { weight: 4, arbitrary: operation('approve again', { nth, actor: oneOf(['clerk', 'owner'] as const) }) },
  {
    weight: 6,
    arbitrary: operation('staff act', {
      verb: oneOf(['approve', 'approve', 'reject', 'cancel'] as const),
      nth,
      isStaff: oneOf([true, true, true, false]),
      isAny: oneOf([false, false, false, true]),
    }),
  },
  { weight: 12, arbitrary: operation('timer', { nth, isDue: oneOf([false, true]) }) },
  { weight: 5, arbitrary: operation('time passes', { ms: oneOf([1, 1, 1_000, HOUR, HOUR, 20 * 24 * HOUR]) }) },
  { weight: 6, arbitrary: operation('read balances', { account, actor }) },
  { weight: 3, arbitrary: operation('read limits', { account, actor }) },
  { weight: 6, arbitrary: operation('read movements', readFilter) },
  { weight: 4, arbitrary: operation('read transfers', readFilter) },
  { weight: 3, arbitrary: operation('read transfer', { nth, actor }) },
  { weight: 2, arbitrary: operation('find by key', { nth, actor }) },
  { weight: 3, arbitrary: operation('read bonuses', readFilter) },
  { weight: 2, arbitrary: operation('read bonus', { nth, actor }) },
  { weight: 4, arbitrary: operation('read events', readFilter) },
  { weight: 2, arbitrary: operation('read event', { nth, actor }) },
);
