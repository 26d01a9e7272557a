import * as column from '../columns.js';
import { defineTable, type RowOf } from '../table.js';

/** Every type, in the contract's order. (docs/contract.md, Events) */
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

export const events = defineTable(
  'events',
  {
    tenantId: column.uuid,
    /** Gapless for each tenant, from 1, in commit order, except for what `event_gaps` lists. */
    sequence: column.bigint,
    id: column.uuid,
    type: column.oneOf(EVENT_TYPES),
    /** What it is about. */
    resourceId: column.uuid,
    /** The Event as JSON, serialised once, so the log and every delivery have the same bytes. */
    body: column.string,
    createdAt: column.time,
    /** The trace that wrote it; null outside one. */
    traceparent: column.nullable(column.string),
  },
  ['tenantId', 'sequence'],
);
export type EventRow = RowOf<typeof events>;

/** The last sequence of each tenant. Locked after everything else of a transaction. */
export const eventCounters = defineTable(
  'event_counters',
  {
    tenantId: column.uuid,
    lastSequence: column.bigint,
    lastAt: column.time,
    /** How often the log was restored to an earlier moment: every later event carries it. */
    restores: column.integer,
  },
  ['tenantId'],
);
export type EventCounter = RowOf<typeof eventCounters>;

/** The last event of each type, written under the counter's lock, for readers that wait only for certain types. */
export const eventHeads = defineTable(
  'event_heads',
  {
    tenantId: column.uuid,
    type: column.oneOf(EVENT_TYPES),
    lastSequence: column.bigint,
  },
  ['tenantId', 'type'],
);
export type EventHead = RowOf<typeof eventHeads>;

/** How long events are kept, as set by operators. At most one row; none: forever. */
export const eventRetention = defineTable(
  'event_retention',
  {
    name: column.oneOf(['events']),
    /** Null: forever. */
    days: column.nullable(column.integer),
  },
  ['name'],
);

/** What retention has removed from each tenant's log. No row: nothing. */
export const eventRemovals = defineTable(
  'event_removals',
  {
    tenantId: column.uuid,
    /** The last sequence removed. */
    removedThrough: column.bigint,
    /** The `created_at` of that event. */
    removedUntil: column.time,
  },
  ['tenantId'],
);
export type EventRemoval = RowOf<typeof eventRemovals>;
