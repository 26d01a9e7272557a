import fc from 'fast-check';
import {
  account,
  actor,
  asset,
  HOUR,
  nth,
  oneOf,
  operation,
  ownAccount,
  paidIn,
  raw,
  readFilter,
} from './arbitraries.js';
import { ROLES } from '../../src/core/permissions.js';
import { batchOperations } from './generated-batches.js';
import { payoutOperations } from './generated-payouts.js';
import { ASSETS, KEYED, MALFORMED, type Operation, OWN_ACCOUNTS } from './operations.js';

/** How runs are made: what comes how often, with which values. */

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
        ({
          op: 'pay in',
          account: number,
          asset: name,
          raw: number === 0 ? 9_000_000_000n : 1_000_000_000n,
        }) as const,
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
  ...payoutOperations,
  ...batchOperations,
  { weight: 30, arbitrary: transfer },
  { weight: 20, arbitrary: bonus },
  { weight: 5, arbitrary: operation('bonus again', { nth, actor, more: oneOf([0n, 0n, 1n]) }) },
  {
    weight: 4,
    arbitrary: operation('sweep', {
      from: oneOf([2, 3, 4]),
      to: ownAccount,
      asset,
      more: oneOf([-1n, 0n, 0n, 1n]),
    }),
  },
  { weight: 8, arbitrary: operation('again', { nth, actor }) },
  {
    weight: 4,
    arbitrary: operation('key reused', { nth, actor, more: fc.bigInt({ min: 1n, max: 9n }) }),
  },
  { weight: 3, arbitrary: operation('malformed', { what: oneOf(MALFORMED) }) },
  {
    weight: 9,
    arbitrary: operation('pay in', { account: fc.nat({ max: OWN_ACCOUNTS }), asset, raw: paidIn }),
  },
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
  {
    weight: 2,
    arbitrary: operation('freeze', {
      account: ownAccount,
      isFrozen: oneOf([true, false, false, false]),
    }),
  },
  {
    weight: 4,
    arbitrary: operation('role', { account: ownAccount, role: oneOf([...ROLES, null]) }),
  },
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
      actor: oneOf([
        'clerk',
        'clerk',
        'clerk',
        'clerk',
        'clerk',
        'clerk',
        'owner',
        'neighbour',
      ] as const),
      isAny: oneOf([false, false, false, false, false, false, true]),
      isTwice: oneOf([false, true]),
      meanwhile: oneOf([null, null, null, 'time', 'freeze', 'freeze', 'freeze'] as const),
    }),
  },
  {
    weight: 40,
    arbitrary: operation('pend', {
      what: oneOf(['transfer', 'transfer', 'payout'] as const),
      from: oneOf([0, 2, 2, 3, 3]),
      to: oneOf([1, 4, 5]),
      asset,
      raw: fc.bigInt({ min: 100_000n, max: 3_000_000n }),
      approvals: oneOf([1, 1, 1, 2, 3]),
      expiresInS: oneOf([60, 604_800, 2_592_000, 2_592_000]),
      role: oneOf(['approver', 'admin', 'owner']),
    }),
  },
  {
    weight: 4,
    arbitrary: operation('approve again', { nth, actor: oneOf(['clerk', 'owner'] as const) }),
  },
  {
    weight: 6,
    arbitrary: operation('staff action', {
      verb: oneOf(['approve', 'approve', 'reject', 'cancel'] as const),
      nth,
      isStaff: oneOf([true, true, true, false]),
      isAny: oneOf([false, false, false, true]),
    }),
  },
  { weight: 26, arbitrary: operation('timer', { nth, isDue: oneOf([false, true]) }) },
  {
    weight: 5,
    arbitrary: operation('time passes', { ms: oneOf([1, 1, 1_000, HOUR, HOUR, 20 * 24 * HOUR]) }),
  },
  { weight: 6, arbitrary: operation('read balances', { account, actor }) },
  { weight: 3, arbitrary: operation('read limits', { account, actor }) },
  { weight: 6, arbitrary: operation('read movements', readFilter) },
  { weight: 4, arbitrary: operation('read transfers', readFilter) },
  { weight: 3, arbitrary: operation('read transfer', { nth, actor }) },
  {
    weight: 2,
    arbitrary: operation('find by key', { nth, actor, among: oneOf([null, null, null, ...KEYED]) }),
  },
  { weight: 3, arbitrary: operation('read bonuses', readFilter) },
  { weight: 2, arbitrary: operation('read bonus', { nth, actor }) },
  { weight: 4, arbitrary: operation('read events', readFilter) },
  { weight: 2, arbitrary: operation('read event', { nth, actor }) },
);
