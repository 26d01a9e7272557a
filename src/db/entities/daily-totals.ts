import * as column from '../columns.js';
import { defineTable, type RowOf } from '../table.js';

/** Sums for the support desk's start page, maintained by a sweep. */

/** Sums of a tenant for a day of its time zone. Sums that exceed 64 bits stay at the maximum. */
export const dailyTotals = defineTable(
  'daily_totals',
  {
    tenantId: column.uuid,
    asset: column.asset,
    /** `2026-11-27` */
    day: column.asciiChar(10),
    /** Completed transfers and payouts, and bonuses. */
    moved: column.bigint,
    movedCount: column.integer,
    /** Transfers and payouts that were rejected, canceled or returned, or that expired or failed. */
    failed: column.bigint,
    failedCount: column.integer,
    /** Transfers and payouts that had not ended when the sweep last ran on this day. */
    pending: column.bigint,
    pendingCount: column.integer,
  },
  { key: ['tenantId', 'asset', 'day'], indexes: { busiest: ['day', 'movedCount'] } },
);
export type DailyTotal = RowOf<typeof dailyTotals>;

/** How far the sweep has read each of its sources. */
export const dailyTotalsPositions = defineTable(
  'daily_totals_positions',
  {
    /** `events/<tenant id>`, or `bonuses`. */
    name: column.ascii(60),
    /** The sequence of the last event; for bonuses, the time of the ids in milliseconds. */
    position: column.bigint,
  },
  { key: ['name'] },
);
