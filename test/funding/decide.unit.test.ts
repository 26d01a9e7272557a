import assert from 'node:assert/strict';
import { eachAsset, MAX_RAW } from '../../src/core/amount.js';
import { commandFingerprint } from '../../src/core/fingerprint.js';
import { newId, type Uuid } from '../../src/core/ids.js';
import { instant } from '../../src/core/instant.js';
import type { Adjustment } from '../../src/db/entities/operations.js';
import type { Account } from '../../src/db/entities/parties.js';
import {
  decideApproval,
  type DecideAdjustment,
  decidePayIn,
  decideProposal,
  decideRejection,
  type ProposeAdjustment,
  type RecordPayIn,
} from '../../src/funding/decide.js';
import type { Decision, LockedAccount, LockedState } from '../../src/ledger/writer/types.js';
import { someone } from '../helpers/world.js';

const TENANT = newId();
const AT = instant(1_800_000_000_000);
const ZERO = eachAsset(() => ({ available: 0n, held: 0n }));

function locked(
  changes: Partial<Account> = {},
  copm: { available?: bigint; held?: bigint } = {},
): LockedAccount {
  const account: Account = {
    id: newId(),
    tenantId: TENANT,
    type: 'person',
    systemRole: null,
    status: 'active',
    name: 'Ana',
    alias: null,
    phone: null,
    verifiedAt: null,
    seq: 0n,
    lastPostedAt: instant(0),
    createdAt: instant(0),
    ...changes,
  };
  const COPM = { available: copm.available ?? 0n, held: copm.held ?? 0n };
  return { account, overdraft: account.type === 'system', balances: { ...ZERO, COPM } };
}

function system(available = 0n): LockedAccount {
  return locked({ type: 'system', systemRole: 'pay_in' }, { available });
}

function stateOf(accounts: readonly LockedAccount[], adjustment?: Adjustment): LockedState {
  const row = (_table: unknown, { id }: { id?: Uuid }) =>
    adjustment?.id === id ? adjustment : undefined;
  const find: LockedState['account'] = (id) => accounts.find(({ account }) => account.id === id);
  return {
    at: AT,
    account: find,
    named: find,
    rows: () => [],
    row: row as unknown as LockedState['row'],
  };
}

const IDENTITY = {
  tenantId: TENANT,
  key: 'ops/r',
  fingerprint: commandFingerprint([]),
  reference: 'r',
  by: someone('bob'),
  auditId: newId(),
};

function payIn(account: LockedAccount, side: LockedAccount, raw: bigint): RecordPayIn {
  return {
    ...IDENTITY,
    payInId: newId(),
    accountId: account.account.id,
    systemAccountId: side.account.id,
    amount: { raw, asset: 'COPM' },
    description: 'from the bank',
  };
}

function codeOf(decision: Decision<unknown>): string | null {
  assert.ok(
    decision.outcome.done || !decision.bindsKey,
    'a refusal binds no key: the same reference may try again',
  );
  assert.ok(
    decision.outcome.done || Object.keys(decision.writes).length === 0,
    'a refusal writes nothing',
  );
  return decision.outcome.done ? null : decision.outcome.refusal.code;
}

describe('a pay-in', () => {
  const codeWith = (account: LockedAccount, side: LockedAccount, raw: bigint): string | null =>
    codeOf(decidePayIn(payIn(account, side, raw), stateOf([account, side])));

  it('a pay-in fills an account up to 64 bits, held funds included, and does not reach a closed account', () => {
    assert.equal(codeWith(locked({ status: 'closed' }), system(), 1n), 'invalid_state');
    for (const [available, held] of [
      [0n, 0n],
      [1n, 0n],
      [0n, 1n],
    ] as const) {
      const account = locked({}, { available, held });
      const room = MAX_RAW - available - held;
      assert.equal(codeWith(account, system(), room), null);
      assert.equal(codeWith(account, system(), room + 1n), 'invalid_field');
    }
    assert.equal(codeWith(locked(), system(-MAX_RAW + 1n), 1n), null);
    assert.equal(codeWith(locked(), system(-MAX_RAW + 1n), 2n), 'invalid_field');
  });
});

describe('an adjustment', () => {
  const proposal = (
    account: LockedAccount,
    direction: 'in' | 'out',
    raw: bigint,
  ): ProposeAdjustment => ({
    ...IDENTITY,
    adjustmentId: newId(),
    accountId: account.account.id,
    direction,
    amount: { raw, asset: 'COPM' },
    reason: 'paid in twice',
  });

  function proposed(account: LockedAccount, direction: 'in' | 'out', raw: bigint): Adjustment {
    const { outcome, writes } = decideProposal(
      proposal(account, direction, raw),
      stateOf([account]),
    );
    assert.ok(outcome.done);
    assert.equal(writes.postings, undefined);
    return outcome.resource;
  }

  function approve(
    adjustment: Adjustment,
    side: LockedAccount,
    by = someone('mary'),
  ): DecideAdjustment {
    return {
      ...IDENTITY,
      by,
      why: null,
      adjustmentId: adjustment.id,
      accountId: adjustment.accountId,
      systemAccountId: side.account.id,
    };
  }

  it('an adjustment takes only available funds, not held ones', () => {
    const [account, side] = [locked({}, { available: 4n, held: 10n }), system()];
    const adjustment = proposed(account, 'out', 5n);
    const { outcome } = decideApproval(
      approve(adjustment, side),
      stateOf([account, side], adjustment),
    );
    assert.ok(!outcome.done);
    assert.equal(outcome.refusal.code, 'insufficient_funds');
    assert.deepEqual(outcome.refusal.details, { available: '4', requested: '5' });
  });

  it('an adjustment is out of range if a balance would exceed 64 bits', () => {
    for (const [direction, available, systemHas] of [
      ['in', MAX_RAW, 0n],
      ['in', 0n, -MAX_RAW],
      ['out', 1n, MAX_RAW],
    ] as const) {
      const [account, side] = [locked({}, { available }), system(systemHas)];
      const adjustment = proposed(account, direction, 1n);
      const state = stateOf([account, side], adjustment);
      assert.equal(codeOf(decideApproval(approve(adjustment, side), state)), 'invalid_field');
    }
  });

  it('an adjustment empties a closed account, and never fills one', () => {
    const [account, side] = [locked({ status: 'closed' }, { available: 5n }), system()];
    assert.equal(
      codeOf(decideProposal(proposal(account, 'in', 5n), stateOf([account]))),
      'invalid_state',
    );
    const out = proposed(account, 'out', 5n);
    assert.equal(codeOf(decideApproval(approve(out, side), stateOf([account, side], out))), null);
    const into: Adjustment = { ...out, direction: 'in' };
    assert.equal(
      codeOf(decideApproval(approve(into, side), stateOf([account, side], into))),
      'invalid_state',
    );
  });

  it('an adjustment of another tenant is not found', () => {
    const [account, side] = [locked({ tenantId: newId() }, { available: 5n }), system()];
    const adjustment: Adjustment = {
      ...proposed(locked(), 'out', 5n),
      tenantId: account.account.tenantId,
      accountId: account.account.id,
    };
    for (const decide of [decideApproval, decideRejection])
      assert.equal(
        codeOf(decide(approve(adjustment, side), stateOf([account, side], adjustment))),
        'not_found',
      );
  });
});
