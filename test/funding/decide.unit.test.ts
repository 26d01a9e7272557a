import assert from 'node:assert/strict';
import { type Asset, eachAsset, MAX_RAW } from '../../src/core/amount.js';
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
import { someone } from '../support/world.js';

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

function payIn(
  account: LockedAccount,
  side: LockedAccount,
  raw: bigint,
  asset: Asset = 'COPM',
): RecordPayIn {
  return {
    ...IDENTITY,
    payInId: newId(),
    accountId: account.account.id,
    systemAccountId: side.account.id,
    amount: { raw, asset },
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
  it('a pay-in moves the money from the pay-in account of the tenant', () => {
    const [account, side] = [locked(), system()];
    const decision = decidePayIn(payIn(account, side, 5n), stateOf([account, side]));
    assert.ok(decision.outcome.done && decision.bindsKey);
    const { resource } = decision.outcome;
    assert.deepEqual([resource.raw, resource.recordedBy, resource.createdAt], [5n, 'bob', AT]);
    const [own, other] = [account.account.id, side.account.id];
    assert.deepEqual(decision.writes.postings, [
      {
        relatedType: 'payin',
        relatedId: resource.id,
        description: 'from the bank',
        entries: [
          {
            accountId: own,
            asset: 'COPM',
            raw: 5n,
            kind: 'payin_in',
            counterpartyAccountId: other,
          },
          {
            accountId: other,
            asset: 'COPM',
            raw: -5n,
            kind: 'system_out',
            counterpartyAccountId: own,
          },
        ],
      },
    ]);
    assert.equal(decision.writes.events, undefined);
  });

  for (const status of ['active', 'frozen'] as const)
    it(`a pay-in reaches an account that is ${status}`, () => {
      const [account, side] = [locked({ status }), system()];
      assert.equal(codeOf(decidePayIn(payIn(account, side, 1n), stateOf([account, side]))), null);
    });

  it('a pay-in does not reach a closed account', () => {
    const [account, side] = [locked({ status: 'closed' }), system()];
    assert.equal(
      codeOf(decidePayIn(payIn(account, side, 1n), stateOf([account, side]))),
      'invalid_state',
    );
  });

  for (const [what, account] of [
    ['another tenant', locked({ tenantId: newId() })],
    ['the system', system()],
  ] as const)
    it(`a pay-in does not find an account of ${what}`, () => {
      const side = system();
      assert.equal(
        codeOf(decidePayIn(payIn(account, side, 1n), stateOf([account, side]))),
        'not_found',
      );
    });

  it('a pay-in does not find an account that is not there', () => {
    const [account, side] = [locked(), system()];
    assert.equal(codeOf(decidePayIn(payIn(account, side, 1n), stateOf([side]))), 'not_found');
  });

  for (const [available, held] of [
    [0n, 0n],
    [1n, 0n],
    [0n, 1n],
    [1n, 1n],
  ] as const)
    it(`a pay-in fills an account with ${available} available and ${held} held up to 64 bits, and no further`, () => {
      const [account, side] = [locked({}, { available, held }), system()];
      const room = MAX_RAW - available - held;
      assert.equal(codeOf(decidePayIn(payIn(account, side, room), stateOf([account, side]))), null);
      assert.equal(
        codeOf(decidePayIn(payIn(account, side, room + 1n), stateOf([account, side]))),
        'invalid_field',
      );
    });

  it('a pay-in is out of range, by name, if the pay-in account would exceed 64 bits', () => {
    const [account, side] = [locked(), system(-MAX_RAW + 1n)];
    assert.equal(codeOf(decidePayIn(payIn(account, side, 1n), stateOf([account, side]))), null);
    const { outcome } = decidePayIn(payIn(account, side, 2n), stateOf([account, side]));
    assert.ok(!outcome.done);
    assert.equal(outcome.refusal.details?.field, 'amount.raw');
    assert.equal(outcome.refusal.details.reason, 'out_of_range');
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

  it('an adjustment moves nothing when it is proposed', () => {
    const account = locked();
    assert.equal(proposed(account, 'out', 5n).status, 'proposed');
  });

  for (const [direction, kind, raw, systemKind] of [
    ['in', 'adjustment_in', 5n, 'system_out'],
    ['out', 'adjustment_out', -5n, 'system_in'],
  ] as const)
    it(`an adjustment: ${direction} moves the money when a second person approves`, () => {
      const [account, side] = [locked({}, { available: 5n }), system()];
      const adjustment = proposed(account, direction, 5n);
      const { outcome, writes } = decideApproval(
        approve(adjustment, side),
        stateOf([account, side], adjustment),
      );
      assert.ok(outcome.done);
      assert.deepEqual([outcome.resource.status, outcome.resource.decidedBy], ['posted', 'mary']);
      assert.deepEqual(
        writes.postings?.[0]?.entries.map((entry) => [entry.kind, entry.raw]),
        [
          [kind, raw],
          [systemKind, -raw],
        ],
      );
    });

  it('an adjustment is not posted by who proposed it, whatever they are called now', () => {
    const [account, side] = [locked(), system()];
    const adjustment = proposed(account, 'in', 5n);
    const state = stateOf([account, side], adjustment);
    for (const name of ['bob', 'BOB', 'robert']) {
      const again = approve(adjustment, side, { ...someone('bob'), name });
      assert.equal(codeOf(decideApproval(again, state)), 'authority_insufficient');
    }
  });

  it('an adjustment takes only what is available: held funds are not', () => {
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

  for (const status of ['posted', 'rejected'] as const)
    it(`an adjustment that is ${status} is neither posted nor rejected again`, () => {
      const [account, side] = [locked({}, { available: 5n }), system()];
      const adjustment: Adjustment = { ...proposed(account, 'out', 5n), status, decidedBy: 'mary' };
      for (const decide of [decideApproval, decideRejection]) {
        const { outcome } = decide(
          approve(adjustment, side, someone('zoe')),
          stateOf([account, side], adjustment),
        );
        assert.ok(!outcome.done);
        assert.deepEqual(outcome.refusal.details, { current: status, allowed: ['proposed'] });
      }
    });

  it('an adjustment may be withdrawn by its proposer, and then moves nothing', () => {
    const [account, side] = [locked({}, { available: 5n }), system()];
    const adjustment = proposed(account, 'out', 5n);
    const { outcome, writes } = decideRejection(
      approve(adjustment, side, someone('bob')),
      stateOf([account, side], adjustment),
    );
    assert.ok(outcome.done && writes.postings === undefined);
    assert.equal(outcome.resource.status, 'rejected');
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
