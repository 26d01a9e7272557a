import { type Asset, ASSETS } from '../../core/amount.js';
import type { Tenant } from '../../db/entities/parties.js';
import { type Group, GROUPS, type LedgerTotals } from './ledger-totals.js';

/** A line of a report. Amounts are raw, in the asset's smallest unit. */
export interface ReportLine {
  /** Null: all tenants together. */
  readonly tenant: Tenant | null;
  readonly asset: Asset;
  /** `all` sums the tenant's groups: its position towards other tenants of its network. */
  readonly group: Group | 'all';
  readonly totals: readonly bigint[];
}

/**
 * Returns the totals of each tenant by asset and group, then of all tenants. Empty groups are
 * omitted.
 */
export function reportLines(
  tenants: readonly Tenant[],
  all: readonly LedgerTotals[],
): ReportLine[] {
  const own = tenants.flatMap((tenant) =>
    ASSETS.flatMap((asset): ReportLine[] => {
      const lines = GROUPS.map((group) => ({
        ...{ tenant, asset, group },
        totals: all.map((totals) => totals.of(tenant.id, group, asset)),
      })).filter(({ totals }) => totals.some((total) => total !== 0n));
      return lines.length === 0
        ? []
        : [...lines, { tenant, asset, group: 'all', totals: added(lines, all.length) }];
    }),
  );
  return [...own, ...ASSETS.map((asset) => totalLine(own, asset, all.length))];
}

function totalLine(lines: readonly ReportLine[], asset: Asset, count: number): ReportLine {
  const wanted = lines.filter((line) => line.asset === asset && line.group === 'all');
  return { tenant: null, asset, group: 'all', totals: added(wanted, count) };
}

function added(lines: readonly Pick<ReportLine, 'totals'>[], count: number): bigint[] {
  return Array.from({ length: count }, (_, index) =>
    lines.reduce((sum, { totals }) => sum + (totals[index] ?? 0n), 0n),
  );
}

/** Returns true if the totals sum to zero, as in any double-entry ledger. */
export function addsUp(lines: readonly ReportLine[]): boolean {
  return lines.every(
    ({ tenant, totals }) => tenant !== null || totals.every((total) => total === 0n),
  );
}
