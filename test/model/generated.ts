import fc from 'fast-check';
import { ROLES } from '../../src/core/permissions.js';
import {
  account,
  actor,
  approving,
  asset,
  HOUR,
  mostly,
  nth,
  often,
  oneOf,
  type OperationOf,
  ownAccount,
  paidIn,
  raw,
  readFilter,
  small,
  type Value,
  weighted,
} from './arbitraries.js';
import { BATCH_OPERATIONS } from './generated-batches.js';
import { PAYOUT_OPERATIONS } from './generated-payouts.js';
import { ASSETS, KEYED, LABELLED, METADATA, OWN_ACCOUNTS } from './operations.js';

/** A moment around one of an account's movements or, with a number, so long before now. */
const moment = {
  beside: nth,
  offMs: oneOf([-1, 0, 0, 1]),
  agoMs: oneOf([...Array<null>(6).fill(null), -1, 0, 14_999, 15_000, 20 * 24 * HOUR]),
};
export type Moment = { readonly [K in keyof typeof moment]: Value<(typeof moment)[K]> };

/** How runs are made: what comes how often, with which values. */
const OPERATIONS = {
  ...PAYOUT_OPERATIONS,
  ...BATCH_OPERATIONS,
  transfer: often(30, {
    captureWithinS: oneOf([null, null, null, 60, 604_800]),
    ...{ actor, from: mostly(6, [0, 0, 2, 3]), to: mostly(5, [1, 2, 4, 5]), asset, raw },
    description: oneOf([null, '', 'Rent', 'Café 💸']),
    metadata: oneOf(METADATA),
  }),
  /** Daily, `runs` times, after days that are skipped by a pause. Canceled before the last run or, when it ends, completed. */
  schedule: often(4, {
    ...{ actor, from: mostly(6, [0, 0, 2, 3]), to: mostly(5, [1, 2, 4, 5]), asset, raw },
    ...{ description: oneOf([null, 'Rent']), metadata: oneOf(METADATA) },
    ...{
      runs: oneOf([1, 2, 3]),
      skipped: oneOf([0, 0, 1, 2]),
      isCanceled: oneOf([false, false, true]),
    },
  }),
  bonus: often(20, {
    // In DUSD no policy of the prelude asks for an approval, which no bonus can wait for.
    ...{ actor, from: mostly(6, [0, 0, 2, 3]), to: mostly(5, [1, 2, 3, 5]), asset, raw },
    // A recipient without an alias is named by the id.
    by: weighted({ account_id: 2, alias: 1 }),
    description: oneOf([null, '', 'Well done']),
    reference: oneOf([null, 'nov-1', 'ñ'.repeat(64)]),
  }),
  /** An earlier bonus once more: word for word, or with its key for another amount. */
  'bonus again': often(5, { nth, actor, more: oneOf([0n, 0n, 1n]) }),
  /** The whole balance of the account, and this much more. */
  sweep: often(4, {
    from: oneOf([2, 3, 4]),
    to: ownAccount,
    asset,
    more: oneOf([-1n, 0n, 0n, 1n]),
  }),
  /** An earlier request once more, word for word. */
  again: often(8, { nth, actor }),
  /** The key of an earlier request for another amount. */
  'key reused': often(4, { nth, actor, more: fc.bigInt({ min: 1n, max: 9n }) }),
  malformed: often(3, {
    what: oneOf([
      ...(['no key', 'no amount', 'decimals', 'unknown field', 'no JSON', 'to itself'] as const),
    ]),
  }),
  'pay in': often(9, { account: fc.nat({ max: OWN_ACCOUNTS }), asset, raw: paidIn }),
  /** The last pay-in's reference once more, with the same content or another. */
  'pay in again': often(2, { isSame: fc.boolean() }),
  adjust: often(4, {
    account: ownAccount,
    asset,
    raw: fc.bigInt({ min: 1n, max: 5_000_000n }),
    direction: weighted({ in: 1, out: 1 }),
    isPosted: fc.boolean(),
  }),
  verify: often(2, { account, actor }),
  freeze: often(2, { account: ownAccount, isFrozen: oneOf([true, false, false, false]) }),
  role: often(4, { account: ownAccount, role: oneOf([...ROLES, null]) }),
  'fee account': often(1, { account: ownAccount }),
  fee: often(2, {
    asset,
    flat: oneOf([0n, 1n, 700n]),
    basisPoints: oneOf([0n, 1n, 25n, 10_000n]),
    cap: oneOf([null, 500n]),
  }),
  'no fee': often(1, { asset }),
  policy: often(3, {
    account: oneOf([0, 0, 2, 3, 5, 6]),
    asset,
    actor,
    threshold: oneOf([0n, 1_000_000n, 400_000_000n]),
    approvals: oneOf([1, 2, 2, 3]),
    expiresInS: oneOf([60, 3_600, 604_800]),
  }),
  'policy delay': often(1, { seconds: oneOf([null, null, 90, 1_800]) }),
  'no policy': often(1, { account, asset, actor }),
  'read policy': often(2, { account, asset, actor }),
  /** An action of a member on a pending resource or, with `isAny`, on any transfer or payout. */
  act: often(60, {
    verb: weighted({ approve: 4, reject: 1, cancel: 1 }),
    nth,
    // The owner creates most of them, so that the clerk may approve.
    actor: weighted({ clerk: 6, owner: 1, neighbour: 1 }),
    isAny: oneOf([false, false, false, false, false, false, true]),
    // And at once again.
    isTwice: fc.boolean(),
    // What happens before: its time passes, or its source is frozen for as long as the action takes.
    meanwhile: oneOf([null, null, null, 'time', 'freeze', 'freeze', 'freeze'] as const),
  }),
  /** A small transfer, of a funded account whose policy asks for this many approvals of everything. */
  createPending: often(40, {
    what: weighted({ transfer: 2, payout: 1 }),
    ...{ from: oneOf([0, 2, 2, 3, 3]), to: oneOf([1, 4, 5]), asset, raw: small },
    approvals: oneOf([1, 1, 1, 2, 3]),
    captureWithinS: oneOf([null, null, 60, 604_800]),
    expiresInS: oneOf([60, 604_800, 2_592_000, 2_592_000]),
    role: approving,
  }),
  /** Captures what is held: all, this much, or more than there is. */
  capture: often(20, {
    ...{ nth, actor: weighted({ owner: 4, clerk: 2, neighbour: 1 }) },
    ...{
      part: oneOf([null, 1n, 0n, 100_000n, 10_000_000_000n]),
      isDue: oneOf([false, false, false, true]),
    },
  }),
  /** Refunds a transfer or bonus: all that is left, this much, or more than is left. */
  refund: often(20, {
    ...{ nth, actor: weighted({ owner: 4, clerk: 2, neighbour: 2 }) },
    of: weighted({ transfers: 2, bonuses: 1 }),
    part: oneOf([null, 1n, 0n, 50_000n, 50_000n, 10_000_000_000n]),
    isOtherAsset: oneOf([false, false, false, false, true]),
  }),
  /** An earlier approve once more, with its key. */
  'approve again': often(4, { nth, actor: weighted({ clerk: 1, owner: 1 }) }),
  /** The action by a member of the staff, or by a person who only claims to be one. */
  'staff action': often(6, {
    verb: weighted({ approve: 2, reject: 1, cancel: 1 }),
    nth,
    isStaff: oneOf([true, true, true, false]),
    isAny: oneOf([false, false, false, true]),
  }),
  /** The timer of one that waits, whether it is its time or not. */
  timer: often(26, { nth, isDue: fc.boolean() }),
  'time passes': often(5, { ms: oneOf([1, 1, 1_000, HOUR, HOUR, 20 * 24 * HOUR]) }),
  'read balances': often(6, { account, actor }),
  'read past balances': often(6, { account, actor, at: fc.record(moment) }),
  'read statement': often(12, {
    ...{ account: mostly(6, [0, 1, 2, 3]), actor, asset },
    ...{ one: fc.record(moment), other: fc.record(moment) },
    isBackward: oneOf([false, false, false, false, false, false, false, true]),
  }),
  'read limits': often(3, { account, actor }),
  'read movements': often(6, readFilter),
  'read transfers': often(4, readFilter),
  'read transfer': often(3, { nth, actor }),
  'read schedules': often(3, readFilter),
  'read schedule': often(2, { nth, actor }),
  /** Among those of what the key was for, or of something else. */
  'find by key': often(2, { nth, actor, among: oneOf([null, null, null, ...KEYED]) }),
  'change metadata': often(4, {
    ...{ actor, nth, what: oneOf(LABELLED) },
    change: fc.record(
      { invoice: oneOf(['A-17', 'B-2', null]), order: oneOf(['7', null]) },
      { requiredKeys: [] },
    ),
  }),
  'read bonuses': often(3, readFilter),
  'read bonus': often(2, { nth, actor }),
  'read events': often(4, readFilter),
  'read event': often(2, { nth, actor }),
};

export type Operation = OperationOf<typeof OPERATIONS>;
export type Played<Op extends Operation['op']> = Extract<Operation, { readonly op: Op }>;
/** How each of these operations is played. */
export type Plays<Op extends Operation['op']> = {
  readonly [Own in Op]: (operation: Played<Own>) => Promise<void>;
};

export const operations: fc.Arbitrary<Operation> = fc.oneof(
  ...Object.entries(OPERATIONS).map(([op, { weight, fields }]) => ({
    weight,
    arbitrary: fc
      .record(fields as Readonly<Record<string, fc.Arbitrary<unknown>>>)
      .map((values) => ({ ...values, op }) as Operation),
  })),
);

/** The beginning of every run: money in the accounts that can send, policies in two, and a clerk who may approve there. */
export const PRELUDE: readonly Operation[] = [
  ...[0, 2, 3].flatMap((number) =>
    ASSETS.map((name): Operation => {
      const amount = number === 0 ? 9_000_000_000n : 1_000_000_000n;
      return { op: 'pay in', account: number, asset: name, raw: amount };
    }),
  ),
  ...[0, 2].map((number): Operation => ({
    ...{ op: 'policy', account: number, asset: 'COPM', actor: 'owner', expiresInS: 3_600 },
    threshold: number === 0 ? 400_000_000n : 0n,
    approvals: number === 0 ? 1 : 2,
  })),
  { op: 'role', account: 0, role: 'admin' },
  { op: 'role', account: 2, role: 'approver' },
  { op: 'role', account: 3, role: 'owner' },
];
