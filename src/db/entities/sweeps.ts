import * as column from '../columns.js';
import { defineTable, type RowOf } from '../table.js';

/** Sweeps, and the processes that run them. All times are by MySQL's clock. */
export const sweepLeases = defineTable(
  'sweep_leases',
  {
    name: column.varchar(100),
    holder: column.nullable(column.uuid),
    /** The holder's host and process number. */
    worker: column.nullable(column.varchar(200)),
    acquiredAt: column.time,
    leaseUntil: column.time,
  },
  { key: ['name'] },
);

/** Sums of a tenant for a day of its time zone, for the support desk's start page. */
export const dailyTotals = defineTable(
  'daily_totals',
  {
    tenantId: column.uuid,
    asset: column.asset,
    /** `2026-11-27` */
    day: column.asciiChar(10),
    moved: column.bigint,
    movedCount: column.integer,
    /** Transfers and payouts that were rejected, canceled, returned, expired or failed. */
    failed: column.bigint,
    failedCount: column.integer,
    /** Transfers and payouts that had not ended when the sweep last ran on this day. */
    pending: column.bigint,
    pendingCount: column.integer,
  },
  { key: ['tenantId', 'asset', 'day'], indexes: { busiest: ['day', 'movedCount'] } },
);
export type DailyTotal = RowOf<typeof dailyTotals>;

/** How far sweeps have read their sources. */
export const dailyTotalsPositions = defineTable(
  'daily_totals_positions',
  {
    /** `events/<tenant id>`, `bonuses`, `words/<table>`, or `words/batch/<id>` until its payouts are indexed. */
    name: column.ascii(60),
    /** For events a sequence, otherwise the time of the ids in milliseconds. */
    position: column.bigint,
  },
  { key: ['name'] },
);
