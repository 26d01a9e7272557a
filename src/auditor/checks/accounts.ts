import { type Asset, ASSETS, eachAsset } from '../../core/amount.js';
import type { Uuid } from '../../core/ids.js';
import { asset as assetColumn, bigint, nullable, string, time, uuid } from '../../db/columns.js';
import type { Reader } from '../../db/database.js';
import {
  type Balance,
  balances,
  ENTRY_KINDS,
  type LastPosting,
  lastPostingOf,
  monthTotals,
  noBalance,
} from '../../db/entities/ledger.js';
import { type Account, accounts } from '../../db/entities/parties.js';
import { wasClockReset } from '../../ledger/database-clock.js';
import { type AuditRun, type Check, idList, scanTable } from '../scan.js';
import { SOURCES } from '../sources.js';

const ACCOUNTS_PER_SLICE = 500;

/** Compares an account with its last entries, its holds and its operations of each month. */
export const accountChecks: Check = {
  tables: ['accounts'],
  run: (audit) =>
    scanTable(audit, accounts, ACCOUNTS_PER_SLICE, async (reader, slice) => {
      audit.countRows('accounts', slice.length);
      const ids = slice.map((account) => account.id);
      const own = await reader.select(balances, { accountId: ids, asset: ASSETS });
      const [heads, held] = [await readHeads(reader, ids), await readHeld(reader, ids)];
      audit.countRows('balances', own.length);
      const rows = new Map(own.map((row) => [`${row.accountId}|${row.asset}`, row]));
      for (const account of slice) {
        const head = heads.get(account.id);
        const stored = ASSET_NAMES.map(
          (asset) => rows.get(`${account.id}|${asset}`) ?? noBalance(account, asset),
        );
        await checkClock(audit, reader, account, lastPostingOf(stored), head);
        for (const balance of stored) {
          const { asset } = balance;
          const heldByHolds = held.get(`${account.id}|${asset}`) ?? 0n;
          const last = head?.last[asset] ?? { seq: 0n, total: 0n };
          checkBalance(audit, account, balance, last, heldByHolds);
        }
      }
      await checkMonths(audit, reader, ids);
    }),
};

const LAST = eachAsset((asset) => `${asset.toLowerCase()}_last`);
const ASSET_NAMES = Object.keys(LAST) as Asset[];

/** The last entry of an asset. `total` is its `total_after`. */
interface LastOfAsset {
  readonly seq: bigint;
  readonly total: bigint;
}

/** The last entries of an account. */
interface Head {
  readonly seq: bigint;
  readonly createdAt: number | null;
  readonly last: Readonly<Record<Asset, LastOfAsset>>;
}

/** Reads the last entries by index: one range per account, asset and kind. */
async function readHeads(reader: Reader, ids: readonly Uuid[]): Promise<Map<Uuid, Head>> {
  const last = (column: string): string =>
    `(SELECT e.${column} FROM entries e FORCE INDEX (PRIMARY) WHERE e.account_id=a.id
      ORDER BY e.seq DESC LIMIT 1) AS last_${column}`;
  const lasts = ASSET_NAMES.map((asset) => {
    const ends = ENTRY_KINDS.map(
      (kind) =>
        `COALESCE((SELECT MAX(k.seq) FROM entries k FORCE INDEX (asset_kind)
          WHERE k.account_id=a.id AND k.asset='${asset}' AND k.kind='${kind}'), 0)`,
    );
    return `(SELECT CONCAT(e.seq,' ',e.total_after) FROM entries e FORCE INDEX (PRIMARY) WHERE e.account_id=a.id
      AND e.seq=GREATEST(${ends.join(',')})) AS ${LAST[asset]}`;
  });
  const rows = await reader.query(
    `SELECT a.id, ${[last('seq'), last('created_at'), ...lasts].join(',')}
     FROM accounts a WHERE a.id IN (${idList(ids)})`,
  );
  const number = nullable(bigint);
  const text = nullable(string);
  const parse = (row: (typeof rows)[number]): Head => ({
    seq: number.parse(row.last_seq) ?? 0n,
    createdAt: nullable(time).parse(row.last_created_at),
    last: eachAsset((asset) => {
      const [seq = 0n, total = 0n] = text.parse(row[LAST[asset]])?.split(' ').map(BigInt) ?? [];
      return { seq, total };
    }),
  });
  return new Map(rows.map((row) => [uuid.parse(row.id), parse(row)]));
}

async function readHeld(reader: Reader, ids: readonly Uuid[]): Promise<Map<string, bigint>> {
  const rows = await reader.query(
    `SELECT account_id, asset, CAST(SUM(remaining) AS CHAR) AS held FROM holds
     WHERE account_id IN (${idList(ids)}) AND remaining<>0 GROUP BY account_id, asset`,
  );
  const name = (row: (typeof rows)[number]): string =>
    `${uuid.parse(row.account_id)}|${assetColumn.parse(row.asset)}`;
  return new Map(rows.map((row) => [name(row), bigint.parse(row.held)]));
}

async function checkClock(
  audit: AuditRun,
  reader: Reader,
  { id }: Account,
  { lastPostedAt }: LastPosting,
  head: Head | undefined,
): Promise<void> {
  const lastAt = head?.createdAt ?? null;
  const isBefore =
    lastAt !== null && lastPostedAt < lastAt && !(await wasClockReset(reader, id, head?.seq ?? 0n));
  const message = 'its last posting is dated before its last entry';
  audit.report('account_clock', `account ${id}`, isBefore && message);
}

function checkBalance(
  audit: AuditRun,
  { id, type, status }: Account,
  { asset, available, held, overdraft, seq }: Balance,
  { seq: lastSeq, total }: LastOfAsset,
  heldByHolds: bigint,
): void {
  const isSystem = type === 'system';
  const amounts = `${available} available and ${held} held`;
  audit.reportAll(`account ${id} ${asset}`, {
    account_seq: seq !== lastSeq && `its seq is ${seq}, its last entry has ${lastSeq}`,
    balance_total: available + held !== total && `${amounts} are not the ${total} of its entries`,
    held_total: held !== heldByHolds && `${held} are held, its holds have ${heldByHolds}`,
    overdraft:
      overdraft !== isSystem &&
      (isSystem ? 'a system account may be overdrawn' : 'only system accounts may be overdrawn'),
    closed_balance:
      status === 'closed' &&
      (available !== 0n || held !== 0n) &&
      `it is closed, and ${amounts} are left in it`,
    negative_balance: (held < 0n || (available < 0n && !isSystem)) && amounts,
  });
}

/** Compares what accounts used of each month with the sum of the operations that count in it. */
async function checkMonths(audit: AuditRun, reader: Reader, ids: readonly Uuid[]): Promise<void> {
  const used = new Map<string, bigint>();
  for (const { monthUse, monthRaw, table } of SOURCES) {
    if (monthUse === null) continue;
    const rows = await reader.query(
      `SELECT source_account_id, asset, limit_month, CAST(SUM(${monthRaw}) AS CHAR) AS used
       FROM ${table.name} WHERE source_account_id IN (${idList(ids)}) AND ${monthUse}
       GROUP BY source_account_id, asset, limit_month`,
    );
    for (const row of rows) {
      const owner = [uuid.parse(row.source_account_id), assetColumn.parse(row.asset)];
      const name = `account ${owner.join(' ')} ${string.parse(row.limit_month)}`;
      used.set(name, (used.get(name) ?? 0n) + bigint.parse(row.used));
    }
  }
  const stored = await reader.select(monthTotals, { accountId: ids });
  audit.countRows('month_totals', stored.length);
  const counted = new Map(
    stored.map((row) => [`account ${row.accountId} ${row.asset} ${row.month}`, row.used]),
  );
  for (const name of new Set([...used.keys(), ...counted.keys()])) {
    const [total, sum] = [counted.get(name) ?? 0n, used.get(name) ?? 0n];
    const message = `${total} are counted, its operations make ${sum}`;
    audit.report('month_total', name, total !== sum && message);
  }
}
