import * as column from '../columns.js';
import { defineTable, type RowOf } from '../table.js';

/** Every type there is, in the order of interface.md, Events. */
export const EVENT_TYPES = [
  'transfer.completed',
  'transfer.rejected',
  'transfer.expired',
  'payout.approved',
  'payout.completed',
  'payout.rejected',
  'payout.failed',
  'payout.returned',
  'payout.canceled',
  'bonus_batch.ready',
  'bonus_batch.rejected',
  'bonus_batch.completed',
  'bonus_batch.partially_failed',
  'account.verified',
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

export const events = defineTable('events', {
  tenantId: column.uuid,
  /** Gapless for each tenant, from 1, in commit order. */
  sequence: column.bigint,
  id: column.uuid,
  type: column.oneOf(EVENT_TYPES),
  /** What it is about. */
  resourceId: column.uuid,
  /** The Event as JSON, serialised once: the same bytes in the log and in every delivery. */
  body: column.string,
  createdAt: column.time,
});
export type EventRow = RowOf<typeof events>;

/** The last sequence of each tenant. Locked after everything else of a transaction. */
export const eventCounters = defineTable('event_counters', {
  tenantId: column.uuid,
  lastSequence: column.bigint,
  lastAt: column.time,
});
export type EventCounter = RowOf<typeof eventCounters>;
