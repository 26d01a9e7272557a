import { totalsAt, awaitPostings } from '../../accounts/balances.js';
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

const GROUPS = ['accounts', ...SYSTEM_ROLES] as const;
type Group = (typeof GROUPS)[number];

export class LedgerTotals {
  private readonly sums = new Map<string, bigint>();

  add(tenantId: Uuid, role: Account['systemRole'], of: Asset, total: bigint): void {
    const group = role ?? 'accounts';
    this.sums.set(`${tenantId}/${group}/${of}`, this.of(tenantId, group, of) + total);
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
      role.parse(row.system_role),
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
      for (const one of ASSETS) totals.add(row.tenantId, row.systemRole, one, own[one]);
    }
    after = rows.at(-1)?.id ?? null;
    if (rows.length < ACCOUNTS_A_SLICE) return totals;
  }
}

export interface ReportLine {
  /** Null: all tenants together. */
  readonly tenant: Tenant | null;
  readonly asset: Asset;
  /** `all` sums the tenant's groups: its position towards other tenants of its network. */
  readonly group: Group | 'all';
  readonly totals: readonly bigint[];
}

/** Returns totals by tenant, asset and nonempty group, then those of all tenants. */
export async function reportLines(
  { reader }: Database,
  all: readonly LedgerTotals[],
): Promise<readonly ReportLine[]> {
  const every = await reader.select(tenants, {}, { orderBy: ['createdAt', 'id'] });
  const own = every.flatMap((tenant) =>
    ASSETS.flatMap((asset): ReportLine[] => {
      const lines = GROUPS.map((group) => ({
        ...{ tenant, asset, group },
        totals: all.map((totals) => totals.of(tenant.id, group, asset)),
      })).filter(({ totals }) => totals.some((total) => total !== 0n));
      return lines.length === 0 ? [] : [...lines, { tenant, asset, ...sumOf(lines, all) }];
    }),
  );
  const ofAsset = (asset: Asset): ReportLine[] =>
    own.filter((line) => line.asset === asset && line.group === 'all');
  return [
    ...own,
    ...ASSETS.map((asset) => ({ tenant: null, asset, ...sumOf(ofAsset(asset), all) })),
  ];
}

function sumOf(
  lines: readonly Pick<ReportLine, 'totals'>[],
  all: readonly LedgerTotals[],
): Pick<ReportLine, 'group' | 'totals'> {
  const totals = all.map((_, index) =>
    lines.reduce((sum, line) => sum + (line.totals[index] ?? 0n), 0n),
  );
  return { group: 'all', totals };
}
