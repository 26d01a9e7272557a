import { type Asset, ASSETS } from '../../core/amount.js';
import type { Uuid } from '../../core/ids.js';
import type { Instant } from '../../core/instant.js';
import { asset, bigint, nullable, oneOf, uuid } from '../../db/columns.js';
import type { Database } from '../../db/database.js';
import {
  type Account,
  accounts,
  SYSTEM_ROLES,
  type Tenant,
  tenants,
} from '../../db/entities/parties.js';
import { literal } from '../../db/statements.js';
import { awaitPostings, totalsAt } from '../../accounts/past-balances.js';

export const GROUPS = ['accounts', ...SYSTEM_ROLES] as const;
export type Group = (typeof GROUPS)[number];

export class LedgerTotals {
  private readonly sums = new Map<string, bigint>();

  add(tenantId: Uuid, group: Group, of: Asset, total: bigint): void {
    const name = `${tenantId}/${group}/${of}`;
    this.sums.set(name, (this.sums.get(name) ?? 0n) + total);
  }

  of(tenantId: Uuid, group: Group, wanted: Asset): bigint {
    return this.sums.get(`${tenantId}/${group}/${wanted}`) ?? 0n;
  }
}

const role = nullable(oneOf(SYSTEM_ROLES));
const MAX_SNAPSHOT_MS = 600_000;

/** Returns the current totals of the balances, read by one statement, so they are consistent. */
export async function readTotalsNow(database: Database): Promise<LedgerTotals> {
  const rows = await database.withSnapshot(
    (reader) =>
      reader.query(
        `SELECT a.tenant_id, a.system_role, b.asset, CAST(SUM(b.available+b.held) AS CHAR) AS total
         FROM accounts a JOIN balances b ON b.account_id=a.id GROUP BY a.tenant_id, a.system_role, b.asset`,
      ),
    MAX_SNAPSHOT_MS,
  );
  const totals = new LedgerTotals();
  for (const row of rows)
    totals.add(
      uuid.parse(row.tenant_id),
      role.parse(row.system_role) ?? 'accounts',
      asset.parse(row.asset),
      bigint.parse(row.total),
    );
  return totals;
}

const ACCOUNTS_A_SLICE = 200;

/** Returns the totals at a settled past moment, from the entries. Throws ledger_unavailable. */
export async function readTotalsAt(database: Database, at: Instant): Promise<LedgerTotals> {
  const { reader } = database;
  const totals = new LedgerTotals();
  for (let after: Uuid | null = null; ;) {
    const behind: string = after === null ? '' : ` AND id>${uuid.literal(after)}`;
    const rows: Account[] = await reader.list(
      accounts,
      `FORCE INDEX (PRIMARY) WHERE created_at<=${literal(accounts, 'createdAt', at)}${behind}
       ORDER BY id LIMIT ${ACCOUNTS_A_SLICE}`,
    );
    await awaitPostings(database, rows, at);
    const owned = new Map(rows.map((row) => [row.id, row]));
    for (const [id, own] of await totalsAt(reader, [...owned.keys()], at)) {
      const row = owned.get(id);
      if (row === undefined) continue;
      for (const one of ASSETS)
        totals.add(row.tenantId, row.systemRole ?? 'accounts', one, own[one]);
    }
    after = rows.at(-1)?.id ?? null;
    if (rows.length < ACCOUNTS_A_SLICE) return totals;
  }
}

export function readTenants({ reader }: Pick<Database, 'reader'>): Promise<Tenant[]> {
  return reader.select(tenants, {}, { orderBy: ['createdAt', 'id'] });
}
