import type { Uuid } from '../../core/ids.js';
import { asset, bigint, string, uuid } from '../../db/columns.js';
import type { Reader } from '../../db/database.js';
import { monthTotals } from '../../db/entities/ledger.js';
import { type Account, accounts } from '../../db/entities/parties.js';
import type { AuditRun, Check } from '../run.js';
import { SOURCES } from '../sources/index.js';
import { idList, walkTable } from '../walk.js';

const ACCOUNTS_A_SLICE = 500;
/** A slice should not go far beyond this many entries, which serve as a measure of operations. */
const ENTRIES_A_SLICE = 50_000n;

/**
 * What each account used of each month, summed over the operations that count in it. All of an account's operations are
 * summed in one snapshot, however many there are.
 */
export const monthChecks: Check = {
  tables: ['accounts'],
  run: (audit) =>
    walkTable(audit, accounts, ACCOUNTS_A_SLICE, async (_, slice) => {
      audit.counted('month_accounts', slice.length);
      for (const ids of evenly(slice))
        await audit.slice((reader) => checkMonths(audit, reader, ids));
    }),
};

function evenly(slice: readonly Account[]): Uuid[][] {
  const parts: Uuid[][] = [[]];
  let weight = 0n;
  for (const { id, seq } of slice) {
    if (weight > 0n && weight + seq > ENTRIES_A_SLICE) {
      parts.push([]);
      weight = 0n;
    }
    parts.at(-1)?.push(id);
    weight += seq;
  }
  return parts;
}

async function checkMonths(audit: AuditRun, reader: Reader, ids: readonly Uuid[]): Promise<void> {
  if (ids.length === 0) return;
  const stored = await reader.select(monthTotals, { accountId: ids });
  audit.counted('month_totals', stored.length);
  const used = new Map<string, bigint>();
  for (const { monthUse, tableName } of SOURCES)
    if (monthUse !== null) await addUse(reader, tableName, monthUse, idList(ids), used);
  for (const { accountId, asset: ofAsset, month, used: total } of stored) {
    const name = `account ${accountId} ${ofAsset} ${month}`;
    compare(audit, name, total, used.get(name) ?? 0n);
    used.delete(name);
  }
  for (const [name, sum] of used) compare(audit, name, 0n, sum);
}

async function addUse(
  reader: Reader,
  table: string,
  condition: string,
  ids: string,
  used: Map<string, bigint>,
): Promise<void> {
  const rows = await reader.query(
    `SELECT source_account_id, asset, limit_month, CAST(SUM(raw) AS CHAR) AS used FROM ${table}
     WHERE source_account_id IN (${ids}) AND ${condition} GROUP BY source_account_id, asset, limit_month`,
  );
  for (const row of rows) {
    const name = `account ${uuid.parse(row.source_account_id)} ${asset.parse(row.asset)} ${string.parse(row.limit_month)}`;
    used.set(name, (used.get(name) ?? 0n) + bigint.parse(row.used));
  }
}

function compare(audit: AuditRun, name: string, total: bigint, sum: bigint): void {
  if (total !== sum)
    audit.report('month_total', name, `${total} are counted, its operations make ${sum}`);
}
