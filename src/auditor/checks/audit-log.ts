import type { Uuid } from '../../core/ids.js';
import { toRfc3339 } from '../../core/instant.js';
import { rowHash, chainOf, GENESIS, RESTORE_GAP, SYSTEM_CHAIN } from '../../db/audit-hash.js';
import { bigint, uuid } from '../../db/columns.js';
import type { Reader } from '../../db/database.js';
import { type ChainedAuditRow, chainedAuditLog } from '../../db/entities/identity.js';
import { columnList } from '../../db/statements.js';
import { parseRow } from '../../db/table.js';
import { afterKey, type AuditRun, type Check, ROWS_PER_SLICE, scan, whereAll } from '../scan.js';

/** Checks each chain: numbers, hashes and the head. (src/db/audit-hash.ts) */
export const auditLogChecks: Check = {
  tables: ['audit_log'],
  run: async (audit) => {
    await checkChains(audit);
    await checkHeads(audit);
  },
};

async function checkChains(audit: AuditRun): Promise<void> {
  let before: ChainedAuditRow | undefined;
  const read = (reader: Reader, after: ChainedAuditRow | undefined): Promise<ChainedAuditRow[]> => {
    const afterSql = ({ chainId, sequence }: ChainedAuditRow): string =>
      afterKey(['chain_id', 'sequence'], [uuid.literal(chainId), bigint.literal(sequence)]);
    const conditions = [
      ...audit.tenantConditions('chain_id'),
      ...(after === undefined ? [] : [afterSql(after)]),
    ];
    return reader.list(
      chainedAuditLog,
      `FORCE INDEX (chain)${whereAll(conditions)}
       ORDER BY chain_id, sequence, id LIMIT ${ROWS_PER_SLICE}`,
    );
  };
  await scan(audit, ROWS_PER_SLICE, read, (_, slice) => {
    audit.countRows('audit_log', slice.length);
    for (const row of slice) {
      checkLink(audit, row, before?.chainId === row.chainId ? before : undefined);
      before = row;
    }
  });
}

/** Returns whether the row records that a restore skipped the numbers after `last`. */
function isRestoreGap({ action, details, sequence }: ChainedAuditRow, last: bigint): boolean {
  if (action !== RESTORE_GAP || sequence <= last) return false;
  return (JSON.parse(details) as { readonly rows_after?: unknown }).rows_after === last.toString();
}

function checkLink(
  audit: AuditRun,
  row: ChainedAuditRow,
  before: ChainedAuditRow | undefined,
): void {
  const { chainId, sequence, previousHash, hash } = row;
  const report = (message: string): void => audit.report('audit_chain', rowName(row), message);
  const last = before?.sequence ?? 0n;
  const expected = isRestoreGap(row, last) ? sequence : last + 1n;
  if (chainId !== chainOf(row)) report('it is in the chain of another tenant');
  if (sequence !== expected)
    report(`it is number ${sequence}, and ${sequence - expected} before it are missing`);
  else if (!previousHash.equals(before?.hash ?? GENESIS))
    report('it does not follow the row before it');
  if (!hash.equals(rowHash(previousHash, sequence, row))) report('it is not what was written');
}

/** Finds rows removed from the end of a chain, and rows added after its head. */
async function checkHeads(audit: AuditRun): Promise<void> {
  await audit.slice(async (reader) => {
    const cut = await reader.query(
      `SELECT c.chain_id, CAST(c.last_sequence AS CHAR) AS last FROM audit_chains c
       LEFT JOIN audit_log a ON a.chain_id=c.chain_id AND a.sequence=c.last_sequence
       ${whereAll(['c.last_sequence>0', '(a.id IS NULL OR a.hash<>c.last_hash)', ...audit.tenantConditions('c.chain_id')])}
       LIMIT 1000`,
    );
    for (const row of cut)
      audit.report(
        'audit_head',
        chainName(uuid.parse(row.chain_id)),
        `its last row, number ${bigint.parse(row.last)}, is missing or was changed`,
      );
    const added = await reader.query(
      `SELECT ${columnList(chainedAuditLog, 'a')} FROM audit_log a LEFT JOIN audit_chains c ON c.chain_id=a.chain_id
       ${whereAll(['(c.chain_id IS NULL OR a.sequence>c.last_sequence)', ...audit.tenantConditions('a.chain_id')])}
       LIMIT 1000`,
    );
    for (const row of added.map((one) => parseRow(chainedAuditLog, one)))
      audit.report('audit_head', rowName(row), 'it is after the end of its chain');
  });
}

function chainName(chainId: Uuid): string {
  return chainId === SYSTEM_CHAIN ? 'the chain without a tenant' : `the chain of tenant ${chainId}`;
}

function rowName({ id, sequence, action, at }: ChainedAuditRow): string {
  return `audit log row ${id}, number ${sequence}: ${action} at ${toRfc3339(at)}`;
}
