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
import { BATCH_WAYS, ROW_FAULTS, type WantedRow } from './operations-batches.js';

const DAY_MS = 86_400_000;
const small = fc.bigInt({ min: 100_000n, max: 3_000_000n });

const row: fc.Arbitrary<WantedRow> = fc.record({
  to: fc.oneof({ weight: 12, arbitrary: oneOf([1, 4, 5]) }, account),
  by: oneOf(['account_id', 'account_id', 'alias'] as const),
  raw: fc.oneof({ weight: 14, arbitrary: small }, raw),
  fault: fc.oneof({ weight: 8, arbitrary: fc.constant(null) }, oneOf(ROW_FAULTS)),
  description: oneOf([null, 'November', 'Café 💸']),
  reference: oneOf([null, null, null, null, null, 'r-1', 'r-2', 'ñ'.repeat(64)]),
});
/** Whose file is accepted, and which is mostly paid. */
const goodRow: fc.Arbitrary<WantedRow> = fc.record({
  to: oneOf([1, 4, 5]),
  by: fc.constant('account_id' as const),
  raw: small,
  fault: fc.constant(null),
  description: oneOf([null, 'November']),
  reference: fc.constant(null),
});
const isAny = oneOf([false, false, false, true]);

export const batchOperations: readonly Weighted[] = [
  {
    weight: 12,
    arbitrary: operation('upload', {
      actor,
      from: fc.oneof({ weight: 8, arbitrary: oneOf([0, 0, 2, 3]) }, ownAccount, account),
      asset,
      description: oneOf([null, 'Payroll']),
      rows: fc.oneof(
        { weight: 12, arbitrary: fc.array(row, { minLength: 1, maxLength: 5 }) },
        { weight: 1, arbitrary: fc.constant([]) },
      ),
      hasAmounts: oneOf([true, true, true, true, true, true, true, false]),
    }),
  },
  { weight: 2, arbitrary: operation('upload again', { nth, actor, isSame: fc.boolean() }) },
  {
    weight: 36,
    arbitrary: operation('batch', {
      from: oneOf([0, 2, 3]),
      asset,
      rows: fc.array(goodRow, { minLength: 2, maxLength: 4 }),
      role: oneOf(['approver', 'admin', 'owner']),
      last: oneOf(['all', 'rest', null] as const),
      way: oneOf(BATCH_WAYS),
    }),
  },
  { weight: 6, arbitrary: operation('validate', { nth }) },
  {
    weight: 5,
    arbitrary: operation('execute', {
      nth,
      actor: oneOf(['clerk', 'clerk', 'owner', 'neighbour'] as const),
      isAny,
    }),
  },
  {
    weight: 2,
    arbitrary: operation('execute again', { nth, actor: oneOf(['clerk', 'owner'] as const) }),
  },
  {
    weight: 6,
    arbitrary: operation('pay rows', {
      nth,
      count: oneOf([1, 1, 2, null]),
      isFrozen: oneOf([false, false, false, true]),
    }),
  },
  { weight: 2, arbitrary: operation('withdraw', { nth, actor, isAny }) },
  {
    weight: 5,
    arbitrary: operation('steer', {
      nth,
      act: oneOf(['pause', 'resume', 'cancel', 'cancel'] as const),
      of: oneOf(['ready', 'executing', 'executing', 'executing', null] as const),
    }),
  },
  {
    weight: 2,
    arbitrary: operation('lapse', { nth, readyForMs: oneOf([0, 0, 1, 30 * DAY_MS]), isAny }),
  },
  { weight: 2, arbitrary: operation('read batch', { nth, actor }) },
  { weight: 2, arbitrary: operation('read rows', { nth, actor }) },
  {
    weight: 2,
    arbitrary: operation('read file', { nth, actor, file: oneOf(['errors', 'result'] as const) }),
  },
  { weight: 3, arbitrary: operation('read batches', readFilter) },
];
