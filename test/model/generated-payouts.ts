import fc from 'fast-check';
import {
  actor,
  approving,
  asset,
  mostly,
  nth,
  often,
  oneOf,
  raw,
  readFilter,
  small,
  type Value,
  weighted,
} from './arbitraries.js';

/** Actions on payouts: by members, and by their rail. */

/** One word of the rail. `unknown`: it never heard of the payout; of an order it is as good as `silent`. */
const word = fc
  .record({
    said: weighted({
      ...{ accepted: 1, completed: 3, failed: 2, returned: 2, voided: 1, unknown: 1, silent: 1 },
    }),
    failure: oneOf([null, 'account_closed', 'bank_unavailable'] as const),
    // The rail's name for it, the second one where the rail mistakes it for another payment.
    reference: oneOf(['R-1', 'R-1', 'R-1', 'R-1', 'R-1', 'R-1', 'R-2', null] as const),
  })
  .map((one) => ({
    ...one,
    // Only what was voided before the rail had it has no name there.
    reference: one.said === 'voided' || one.reference !== null ? one.reference : ('R-1' as const),
  }));
export type RailWord = Value<typeof word>;

/** The rail's answers to the first and to the second question. */
const words = fc.tuple(word, word);
/** `open`: one that is approved or in progress. The rail is not asked by a workflow about one that has ended. */
const of = weighted({ open: 3, ended: 2, any: 1 });

/** A bank account or a key, and for a key what is sent of a look-up. */
const to = weighted({
  ...{ bank: 4, key: 2, checked: 2 },
  ...{ 'check of another key': 1, 'expired check': 1, 'forged check': 1 },
});
export type PayoutTo = Value<typeof to>;

/** The holder of a key when the rail is asked before an order; `none`: the key has none any more. */
const holder = weighted({ same: 5, other: 2, none: 1, silent: 1 });
export type Holder = Value<typeof holder>;

/** How far it comes; `lost`: its rail never heard of it, `refused`: its source is frozen when it is approved. */
const way = weighted({
  'handed over': 2,
  completed: 1,
  failed: 2,
  lost: 3,
  returned: 1,
  'canceled once approved': 1,
  approved: 2,
  refused: 1,
  rejected: 1,
  canceled: 2,
  'holder changed': 2,
  'holder changed once lost': 2,
  'holder not said': 1,
});
export type PayoutWay = Value<typeof way>;

export const PAYOUT_OPERATIONS = {
  payout: often(8, {
    ...{ actor, from: mostly(6, [0, 0, 2, 3]), asset, raw },
    description: oneOf([null, '', 'Rent', 'Café 💸']),
    to,
  }),
  /** An earlier one once more: word for word, or with its key for another amount. */
  'payout again': often(4, { nth, actor, more: oneOf([0n, 0n, 1n]) }),
  /** A small one that goes a whole way, of an account that is funded for it. Its clerk approves or rejects. */
  'pay out': often(34, { from: oneOf([0, 2, 3]), asset, raw: small, role: approving, way, words }),
  /** One that was approved and is not with its rail yet. */
  'cancel approved': often(4, { nth, actor }),
  /** The work of the payout's workflow. */
  'hand over': often(14, { nth, of, isAsked: fc.boolean(), words, holder }),
  /** Reports that the rail sends by itself. */
  callback: often(8, { nth, of, word }),
  /** An earlier one once more: word for word, or with its id for something else. */
  'callback again': often(2, { nth, isSame: fc.boolean() }),
  'read payout': often(2, { nth, actor }),
  'read payouts': often(3, readFilter),
};
