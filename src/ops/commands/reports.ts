import { DEFAULT_TIME_ZONE } from '../../accounts/tenants.js';
import { awaitPostings, totalsAt } from '../../accounts/balances.js';
import { type Asset, ASSETS } from '../../core/amount.js';
import { type Instant, instant, parseMonth } from '../../core/instant.js';
import type { Uuid } from '../../core/ids.js';
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
import { SETTLED_AFTER_MS } from '../../ledger/database-clock.js';
import { type Ops, query } from '../command.js';
import { OpsError, UsageError } from '../failures.js';
import { PROGRAM } from '../help.js';
import { flag, optionalTenant, option, text } from '../inputs.js';
import { time, timeZone } from '../times.js';
import type { Fields } from '../fields.js';

const tenant = optionalTenant('only the lines of');
const csv = flag('print CSV: amounts as raw integers, in the smallest unit');

const EXPLANATION = `
The lines of a tenant are its accounts, its system accounts, and all: the money that it received from other tenants of its
network, or gave to them. The last lines cover all tenants, and are zero.`;

interface ReportLine {
  /** Null: all tenants together. */
  readonly tenant: Tenant | null;
  readonly asset: Asset;
  readonly group: Group;
  readonly totals: readonly bigint[];
}

/** Prints the totals by tenant, asset and nonempty group, then those of all tenants. */
async function print(
  { database, output }: Ops,
  only: Tenant | undefined,
  all: readonly LedgerTotals[],
  amounts: (line: ReportLine) => Fields,
): Promise<void> {
  const own = await database.reader.select(tenants, {}, { orderBy: ['createdAt', 'id'] });
  const lines = [...own, null].flatMap((tenant) =>
    ASSETS.flatMap((asset) => {
      const groups = GROUPS.map((group): ReportLine => ({
        tenant,
        asset,
        group,
        totals: all.map((totals) => totals.of(tenant?.id ?? null, group, asset)),
      }));
      const isUsed = tenant === null || groups.some(isNotZero);
      return groups.filter((line) => (line.group === 'all' ? isUsed : isNotZero(line)));
    }),
  );
  const rows = lines
    .filter(({ tenant }) => only === undefined || tenant?.id === only.id)
    .map((line) => ({
      tenant: line.tenant?.name ?? 'all tenants',
      tenant_id: line.tenant?.id ?? null,
      asset: line.asset,
      accounts: line.group,
      ...amounts(line),
    }));
  output.list(rows, 'The tenant has nothing.', { rawInCsv: true });
  // In any double-entry ledger, the totals of all tenants sum to zero.
  if (lines.some((line) => line.tenant === null && isNotZero(line)))
    throw new OpsError(`the totals of all tenants are not zero: run ${PROGRAM} audit`);
}

function isNotZero({ totals }: ReportLine): boolean {
  return totals.some((total) => total !== 0n);
}

export const reportCommands = {
  'trial-balance': query({
    summary: "every tenant's money, by asset and kind of account; the total is zero",
    explanation: EXPLANATION,
    examples: [
      'reports trial-balance',
      'reports trial-balance --at 2026-10-31T23:59:59.999-05:00 --csv',
    ],
    input: {
      at: option('<time> at this moment, at least 15 seconds ago (default: now)', time.optional()),
      tenant,
      csv,
    },
    run: async (ops, { at, tenant: only }) => {
      if (at !== undefined && at > ops.clock() - SETTLED_AFTER_MS)
        throw new UsageError(`--at must be at least ${SETTLED_AFTER_MS / 1000} seconds ago`);
      const totals =
        at === undefined ? await readTotalsNow(ops.database) : await readTotalsAt(ops.database, at);
      await print(ops, only, [totals], ({ totals: [total = 0n], asset }) => ({
        total: { raw: total, asset },
      }));
    },
  }),
  closing: query({
    summary:
      "every tenant's money at the beginning and end of a month, by asset and kind of account",
    explanation: EXPLANATION,
    examples: ['reports closing --month 2026-10', 'reports closing --month 2026-10 --csv'],
    input: {
      month: option('<month> such as 2026-10; it must be over', text),
      timeZone: option(
        `<zone> IANA zone whose month it is, for all tenants alike (default: ${DEFAULT_TIME_ZONE})`,
        timeZone.default(DEFAULT_TIME_ZONE),
      ),
      tenant,
      csv,
    },
    run: async (ops, { month: name, timeZone, tenant: only }) => {
      const month = parseMonth(name, timeZone);
      if (month === null)
        throw new UsageError(`--month: ${name} is not a month: write it as 2026-10`);
      const { startsAt, endsAt } = month;
      if (endsAt > ops.clock() - SETTLED_AFTER_MS)
        throw new UsageError(`--month: ${name} is not over yet`);
      const opening = await readTotalsAt(ops.database, instant(startsAt - 1));
      const closing = await readTotalsAt(ops.database, instant(endsAt - 1));
      await print(ops, only, [opening, closing], ({ totals, asset }) => {
        const [before = 0n, after = 0n] = totals;
        return {
          opening: { raw: before, asset },
          change: { raw: after - before, asset },
          closing: { raw: after, asset },
        };
      });
    },
  }),
};

/** `all` sums the groups of a tenant: its position towards other tenants of its network. */
const GROUPS = ['accounts', ...SYSTEM_ROLES, 'all'] as const;
type Group = (typeof GROUPS)[number];

class LedgerTotals {
  private readonly sums = new Map<string, bigint>();

  /** Adds to the sums of the group, of its tenant, and of all tenants. */
  add(tenantId: Uuid, role: Account['systemRole'], asset: Asset, total: bigint): void {
    const keys = [
      [tenantId, role ?? 'accounts'],
      [tenantId, 'all'],
      [null, 'all'],
    ] as const;
    for (const [tenant, group] of keys)
      this.sums.set(`${tenant}/${group}/${asset}`, this.of(tenant, group, asset) + total);
  }

  of(tenantId: Uuid | null, group: Group, asset: Asset): bigint {
    return this.sums.get(`${tenantId}/${group}/${asset}`) ?? 0n;
  }
}

const role = nullable(oneOf(SYSTEM_ROLES));
const MAX_SNAPSHOT_MS = 600_000;

/** Returns the current totals of the balances, read by one statement, so they are consistent. */
async function readTotalsNow(database: Database): Promise<LedgerTotals> {
  const sql = `SELECT a.tenant_id, a.system_role, b.asset, CAST(SUM(b.available+b.held) AS CHAR) AS total
    FROM accounts a JOIN balances b ON b.account_id=a.id GROUP BY a.tenant_id, a.system_role, b.asset`;
  const totals = new LedgerTotals();
  for (const row of await database.withSnapshot((reader) => reader.query(sql), MAX_SNAPSHOT_MS)) {
    const group = [uuid.parse(row.tenant_id), role.parse(row.system_role)] as const;
    totals.add(...group, asset.parse(row.asset), bigint.parse(row.total));
  }
  return totals;
}

const ACCOUNTS_PER_SLICE = 200;

/** Returns the totals at a settled past moment, from the entries. Throws ledger_unavailable. */
export async function readTotalsAt(database: Database, at: Instant): Promise<LedgerTotals> {
  const { reader } = database;
  const totals = new LedgerTotals();
  for (let after: Uuid | null = null; ;) {
    const afterSql: string = after === null ? '' : ` AND id>${uuid.literal(after)}`;
    const rows: Account[] = await reader.list(
      accounts,
      `FORCE INDEX (PRIMARY) WHERE created_at<=${literal(accounts, 'createdAt', at)}${afterSql}
       ORDER BY id LIMIT ${ACCOUNTS_PER_SLICE}`,
    );
    if (rows.length === 0) return totals;
    const ids = rows.map(({ id }) => id);
    await awaitPostings(database, ids, at);
    const own = await totalsAt(reader, ids, at);
    for (const { id, tenantId, systemRole } of rows)
      for (const one of ASSETS) totals.add(tenantId, systemRole, one, own.get(id)?.[one] ?? 0n);
    after = rows.at(-1)?.id ?? null;
  }
}
