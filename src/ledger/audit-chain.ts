import { compareText } from '../core/collections.js';
import type { Uuid } from '../core/ids.js';
import { actHash, chainOf, GENESIS } from '../db/audit-hash.js';
import { type AuditChain, auditChains, type AuditRow, type ChainedAct, chainedActs } from '../db/entities/identity.js';
import { insertSql, selectSql, upsertSql } from '../db/statements.js';
import { parseRow } from '../db/table.js';
import type { Appending } from './appending.js';

/**
 * How acts get into the audit log: each chained to the one before it, under the lock of its chain's head. A chain begins with
 * the first act that it gets.
 */
export function appendingActs(acts: readonly AuditRow[]): Appending {
  if (acts.length === 0) return { locks: [], writes: () => [] };
  const chainIds = [...new Set(acts.map(chainOf))].sort(compareText);
  const unborn = chainIds.map((chainId): AuditChain => ({ chainId, lastSequence: 0n, lastHash: GENESIS }));
  return {
    locks: [
      upsertSql(auditChains, unborn, ['chainId']),
      selectSql(auditChains, { chainId: chainIds }, { orderBy: ['chainId'], forUpdate: true }),
    ],
    writes: (heads) =>
      chained(
        heads.map((head) => parseRow(auditChains, head)),
        acts,
      ),
  };
}

function chained(heads: readonly AuditChain[], acts: readonly AuditRow[]): string[] {
  const chains = new Map<Uuid, AuditChain>(heads.map((head) => [head.chainId, head]));
  const rows = acts.map((act): ChainedAct => {
    const chainId = chainOf(act);
    const head = chains.get(chainId);
    if (head === undefined) throw new Error('a chain of the audit log has no head');
    const sequence = head.lastSequence + 1n;
    const hash = actHash(head.lastHash, sequence, act);
    chains.set(chainId, { chainId, lastSequence: sequence, lastHash: hash });
    return { ...act, chainId, sequence, previousHash: head.lastHash, hash };
  });
  return [insertSql(chainedActs, rows), upsertSql(auditChains, [...chains.values()], ['lastSequence', 'lastHash'])];
}
