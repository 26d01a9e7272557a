import fc from 'fast-check';
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
  raw,
  readFilter,
  small,
  type Value,
  weighted,
} from './arbitraries.js';

/** Actions on batches: by members, by the workflow that works on them, by support and by time. */

/** The faults of a row, beside those of its numbers. */
const faults = ['nobody', 'formula', 'decimals', 'no amount', 'no asset', 'other asset'] as const;

const row = fc.record({
  to: fc.oneof({ weight: 12, arbitrary: oneOf([1, 4, 5]) }, account),
  // A recipient without an alias is named by the id.
  by: weighted({ account_id: 2, alias: 1 }),
  raw: fc.oneof({ weight: 14, arbitrary: small }, raw),
  fault: fc.oneof({ weight: 8, arbitrary: fc.constant(null) }, oneOf(faults)),
  description: oneOf([null, 'November', 'Café 💸']),
  reference: oneOf([null, null, null, null, null, 'r-1', 'r-2', 'ñ'.repeat(64)]),
  order: oneOf([null, null, 'B-2', '7']),
});
export type WantedRow = Value<typeof row>;

/** A row whose file is accepted, and which is mostly paid. */
const goodRow: fc.Arbitrary<WantedRow> = fc.record({
  to: oneOf([1, 4, 5]),
  by: fc.constant('account_id' as const),
  raw: small,
  fault: fc.constant(null),
  description: oneOf([null, 'November']),
  reference: fc.constant(null),
  order: oneOf([null, '7']),
});

/** How far it comes, or what stands in its way. */
const way = weighted({
  ready: 1,
  'by its uploader': 2,
  withdrawn: 2,
  lapsed: 2,
  executed: 1,
  paused: 2,
  canceled: 3,
  frozen: 1,
  paid: 4,
});
export type BatchWay = Value<typeof way>;

const kind = weighted({ bonus: 3, payout: 2 });

/** Any batch that there is, else one that is ready. */
const isAny = oneOf([false, false, false, true]);

export const BATCH_OPERATIONS = {
  upload: often(12, {
    ...{ kind, actor, from: mostly(8, [0, 0, 2, 3]), asset },
    description: oneOf([null, 'Payroll']),
    rows: fc.oneof(
      { weight: 12, arbitrary: fc.array(row, { minLength: 1, maxLength: 5 }) },
      { weight: 1, arbitrary: fc.constant<WantedRow[]>([]) },
    ),
    // Whether the header names the column of the amounts.
    hasAmounts: oneOf([true, true, true, true, true, true, true, false]),
  }),
  /** An earlier file under its key: the same bytes, or one row more. */
  'upload again': often(2, { nth, actor, isSame: fc.boolean() }),
  /** One that goes a whole way. Its clerk, of that role, executes what the owner has uploaded. */
  batch: often(36, {
    kind,
    from: oneOf([0, 2, 3]),
    asset,
    rows: fc.array(goodRow, { minLength: 2, maxLength: 4 }),
    role: approving,
    // A last row asks for all that the account has, or for what the others leave of it: then all is held.
    last: oneOf(['all', 'rest', null] as const),
    way,
  }),
  validate: often(6, { nth }),
  execute: often(5, { nth, actor: weighted({ clerk: 2, owner: 1, neighbour: 1 }), isAny }),
  /** An earlier execution under its key. */
  'execute again': often(2, { nth, actor: weighted({ clerk: 1, owner: 1 }) }),
  /** A number of rows, null for all up to the end, while the source is frozen or not. */
  'pay rows': often(6, {
    nth,
    count: oneOf([1, 1, 2, null]),
    isFrozen: oneOf([false, false, false, true]),
  }),
  withdraw: often(2, { nth, actor, isAny }),
  steer: often(5, {
    nth,
    act: weighted({ pause: 1, resume: 1, cancel: 2 }),
    of: oneOf(['ready', 'executing', 'executing', 'executing', null] as const),
  }),
  /** By time, when it has been ready for so long. */
  lapse: often(2, { nth, readyForMs: oneOf([0, 0, 1, 30 * 24 * HOUR]), isAny }),
  'read batch': often(2, { nth, actor }),
  'read rows': often(2, { nth, actor }),
  'read file': often(2, { nth, actor, file: oneOf(['errors', 'result'] as const) }),
  'read batches': often(3, readFilter),
};
