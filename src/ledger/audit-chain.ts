import { compareText } from '../core/collections.js';
import type { Uuid } from '../core/ids.js';
import { rowHash, chainOf, GENESIS } from '../db/audit-hash.js';
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

/** Appends rows, each with the hash of the row before, under the lock of its chain's head. */
export async function appendAuditRows(
  transaction: Transaction,
  rows: readonly AuditRow[],
): Promise<void> {
  const results = await transaction.all(lockChainsSql(rows));
  await transaction.all(chainedInsertsSql(results.at(-1) ?? [], rows));
}

export function lockChainsSql(rows: readonly AuditRow[]): string[] {
  const chainIds = [...new Set(rows.map(chainOf))].sort(compareText);
  const newChains = chainIds.map((chainId): AuditChain => ({
    chainId,
    lastSequence: 0n,
    lastHash: GENESIS,
  }));
  return [
    upsertSql(auditChains, newChains, ['chainId']),
    selectSql(auditChains, { chainId: chainIds }, { orderBy: ['chainId'], forUpdate: true }),
  ];
}

export function chainedInsertsSql(
  heads: readonly StoredRow[],
  rows: readonly AuditRow[],
): string[] {
  const chains = new Map<Uuid, AuditChain>(
    heads.map((row) => parseRow(auditChains, row)).map((head) => [head.chainId, head]),
  );
  const chained = rows.map((row): ChainedAuditRow => {
    const chainId = chainOf(row);
    const head = chains.get(chainId);
    if (head === undefined) throw new Error('a chain of the audit log has no head');
    const sequence = head.lastSequence + 1n;
    const hash = rowHash(head.lastHash, sequence, row);
    chains.set(chainId, { chainId, lastSequence: sequence, lastHash: hash });
    return { ...row, chainId, sequence, previousHash: head.lastHash, hash };
  });
  return [
    insertSql(chainedAuditLog, chained),
    upsertSql(auditChains, [...chains.values()], ['lastSequence', 'lastHash']),
  ];
}
