import type { Asset } from '../../core/amount.js';
import { type Instant, localDay } from '../../core/instant.js';
import type { Uuid } from '../../core/ids.js';
import type { Reader } from '../../db/database.js';
import { type DailyTotal, dailyTotals } from '../../db/entities/sweeps.js';
import { type Tenant, tenants } from '../../db/entities/parties.js';
import { literals } from '../../db/statements.js';

export interface TenantTotals {
  readonly tenant: Tenant;
  readonly asset: Asset;
  /** Totals of each day, up to the current day. */
  readonly days: readonly Pick<DailyTotal, Measure | 'day'>[];
}
type Measure = 'moved' | 'movedCount' | 'failed' | 'failedCount' | 'pending' | 'pendingCount';

const DAYS = 14;
const MAX_SHOWN = 8;

/**
 * Returns the totals of up to 8 tenants: those that moved money most often on the newest day, and if
 * these are fewer, on the days before it.
 */
export async function readBusiest(reader: Reader, now: Instant): Promise<readonly TenantTotals[]> {
  // The current day in every time zone is one of these.
  const days = [0, 1, 2].map((back) => localDay(now, 'UTC', back - 1));
  const rows = await reader.list(
    dailyTotals,
    `FORCE INDEX (busiest) WHERE day IN (${literals(dailyTotals, 'day', days)})
     ORDER BY day DESC, moved_count DESC LIMIT ${MAX_SHOWN * 3}`,
  );
  const ids = [...new Set(rows.map(({ tenantId }) => tenantId))].slice(0, MAX_SHOWN);
  return readTotals(reader, ids, now);
}

export async function readTotals(
  reader: Reader,
  tenantIds: readonly Uuid[],
  now: Instant,
): Promise<readonly TenantTotals[]> {
  if (tenantIds.length === 0) return [];
  const [own, rows] = await Promise.all([
    reader.select(tenants, { id: tenantIds }, { orderBy: ['name'] }),
    reader.list(
      dailyTotals,
      `WHERE tenant_id IN (${literals(dailyTotals, 'tenantId', tenantIds)})
       AND day>='${localDay(now, 'UTC', DAYS + 1)}' ORDER BY asset, day`,
    ),
  ]);
  return own.flatMap((tenant) => {
    const ofTenant = rows.filter(({ tenantId }) => tenantId === tenant.id);
    return [...new Set(ofTenant.map(({ asset }) => asset))].map((asset) => ({
      tenant,
      asset,
      days: Array.from({ length: DAYS }, (_, index) => {
        const day = localDay(now, tenant.timeZone, DAYS - 1 - index);
        const row = ofTenant.find((one) => one.asset === asset && one.day === day);
        return { ...NO_TOTALS, ...row, day };
      }),
    }));
  });
}

/** Returns the totals of the current day. */
export function todayOf(days: TenantTotals['days']): Pick<DailyTotal, Measure> {
  return days.at(-1) ?? NO_TOTALS;
}

export const NO_TOTALS: Pick<DailyTotal, Measure> = {
  moved: 0n,
  movedCount: 0,
  failed: 0n,
  failedCount: 0,
  pending: 0n,
  pendingCount: 0,
};
