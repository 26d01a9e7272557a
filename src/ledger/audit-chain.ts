import { compareText } from '../core/collections.js';
import type { Uuid } from '../core/ids.js';
import { actHash, chainOf, GENESIS } from '../db/audit-hash.js';
import type { StoredRow, Transaction } from '../db/database.js';
import {
  type AuditChain,
  auditChains,
  type AuditRow,
  type ChainedAuditRow,
  chainedAuditLog,
} from '../db/entities/identity.js';
import { insertSql, selectSql, upsertSql } from '../db/statements.js';
import { parseRow } from '../db/table.js';

/** Appends rows with the hash of the row before, under the lock of the chain's head. */
export async function appendAuditRows(
  transaction: Transaction,
  acts: readonly AuditRow[],
): Promise<void> {
  const answers = await transaction.all(lockChains(acts));
  await transaction.all(chainedInserts(answers.at(-1) ?? [], acts));
}

export function lockChains(acts: readonly AuditRow[]): string[] {
  const chainIds = [...new Set(acts.map(chainOf))].sort(compareText);
  const unborn = chainIds.map((chainId): AuditChain => ({
    chainId,
    lastSequence: 0n,
    lastHash: GENESIS,
  }));
  return [
    upsertSql(auditChains, unborn, ['chainId']),
    selectSql(auditChains, { chainId: chainIds }, { orderBy: ['chainId'], forUpdate: true }),
  ];
}

export function chainedInserts(heads: readonly StoredRow[], acts: readonly AuditRow[]): string[] {
  const chains = new Map<Uuid, AuditChain>(
    heads.map((row) => parseRow(auditChains, row)).map((head) => [head.chainId, head]),
  );
  const rows = acts.map((act): ChainedAuditRow => {
    const chainId = chainOf(act);
    const head = chains.get(chainId);
    if (head === undefined) throw new Error('a chain of the audit log has no head');
    const sequence = head.lastSequence + 1n;
    const hash = actHash(head.lastHash, sequence, act);
    chains.set(chainId, { chainId, lastSequence: sequence, lastHash: hash });
    return { ...act, chainId, sequence, previousHash: head.lastHash, hash };
  });
  return [
    insertSql(chainedAuditLog, rows),
    upsertSql(auditChains, [...chains.values()], ['lastSequence', 'lastHash']),
  ];
}
