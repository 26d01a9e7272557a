import assert from 'node:assert/strict';
import { type Asset, ASSETS } from '../../src/core/amount.js';
import { newId, type Uuid } from '../../src/core/ids.js';
import { instant } from '../../src/core/instant.js';
import type { Balance } from '../../src/db/entities/ledger.js';
import type { Account } from '../../src/db/entities/parties.js';
import { GroupState, UnsoundDecision } from '../../src/ledger/writer/group-state.js';

const NOW = instant(Date.UTC(2026, 10, 1));
/** One that is added some day: the rules may not know the assets by name. */
const ANOTHER = 'EURM' as Asset;

describe('double entry', () => {
  const ids: readonly [Uuid, Uuid] = [newId(), newId()];
  const accounts = ids.map((id): Account => ({
    id,
    tenantId: ids[0],
    type: 'business',
    systemRole: null,
    status: 'active',
    name: 'Account of a test',
    alias: null,
    phone: null,
    verifiedAt: null,
    seq: 0n,
    lastPostedAt: NOW,
    createdAt: NOW,
  }));
  const balances = ids.flatMap((accountId) =>
    [...ASSETS, ANOTHER].map((asset): Balance => ({
      accountId,
      asset,
      available: 100n,
      held: 0n,
      overdraft: false,
    })),
  );

  const post = (asset: Asset, gains: readonly [bigint, bigint]): GroupState => {
    const state = new GroupState(accounts, balances, new Map());
    const entries = ids.map((accountId, index) => ({
      accountId,
      asset,
      raw: gains[index] ?? 0n,
      kind: 'transfer_in' as const,
      counterpartyAccountId: null,
    }));
    const posting = {
      relatedType: 'transfer' as const,
      relatedId: newId(),
      description: null,
      entries,
    };
    state.apply({ postings: [posting] }, ids[0], NOW);
    return state;
  };

  for (const asset of [...ASSETS, ANOTHER]) {
    it(`double entry accepts entries in ${asset} that sum to zero, and changes the balances`, () => {
      const { writes } = post(asset, [-5n, 5n]);
      const available = Array.from(writes.balances.values(), (balance) => [
        balance.asset,
        balance.available,
      ]);
      assert.deepEqual(available, [
        [asset, 95n],
        [asset, 105n],
      ]);
    });

    it(`double entry refuses entries in ${asset} that do not sum to zero`, () => {
      assert.throws(
        () => post(asset, [-5n, 6n]),
        new UnsoundDecision('the entries do not sum to zero'),
      );
    });
  }
});
