import fc from 'fast-check';
import {
  account,
  actor,
  asset,
  nth,
  oneOf,
  operation,
  ownAccount,
  raw,
  readFilter,
  type Weighted,
} from './arbitraries.js';
import { PAYOUT_WAYS, type RailWord } from './operations-payouts.js';

const word: fc.Arbitrary<RailWord> = fc
  .record({
    said: oneOf([
      ...(['accepted', 'completed', 'completed', 'completed', 'failed', 'failed'] as const),
      ...(['returned', 'returned', 'voided', 'unknown', 'silent'] as const),
    ]),
    failure: oneOf([null, 'account_closed', 'bank_unavailable'] as const),
    reference: oneOf(['R-1', 'R-1', 'R-1', 'R-1', 'R-1', 'R-1', 'R-2', null] as const),
  })
  .map((one) => ({
    ...one,
    // Only what was voided before the rail had it has no name there.
    reference: one.said === 'voided' || one.reference !== null ? one.reference : 'R-1',
  }));
const words = fc.tuple(word, word);
const of = oneOf(['open', 'open', 'open', 'ended', 'ended', 'any'] as const);
const small = fc.bigInt({ min: 100_000n, max: 3_000_000n });

export const payoutOperations: readonly Weighted[] = [
  {
    weight: 8,
    arbitrary: operation('payout', {
      actor,
      from: fc.oneof({ weight: 6, arbitrary: oneOf([0, 0, 2, 3]) }, ownAccount, account),
      asset,
      raw,
      description: oneOf([null, '', 'Rent', 'Café 💸']),
    }),
  },
  { weight: 4, arbitrary: operation('payout again', { nth, actor, more: oneOf([0n, 0n, 1n]) }) },
  {
    weight: 34,
    arbitrary: operation('pay out', {
      from: oneOf([0, 2, 3]),
      asset,
      raw: small,
      role: oneOf(['approver', 'admin', 'owner']),
      way: oneOf(PAYOUT_WAYS),
      words,
    }),
  },
  { weight: 4, arbitrary: operation('cancel approved', { nth, actor }) },
  { weight: 14, arbitrary: operation('hand over', { nth, of, isAsked: fc.boolean(), words }) },
  { weight: 8, arbitrary: operation('callback', { nth, of, word }) },
  { weight: 2, arbitrary: operation('callback again', { nth, isSame: fc.boolean() }) },
  { weight: 2, arbitrary: operation('read payout', { nth, actor }) },
  { weight: 3, arbitrary: operation('read payouts', readFilter) },
];
