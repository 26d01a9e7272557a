import * as column from '../columns.js';
import { defineTable, type RowOf } from '../table.js';

/** Every type there is, in the contract's order, and whether webhooks may carry it. (docs/contract.md, Events) */
const LIST = {
  'transfer.completed': true,
  'transfer.rejected': false,
  'transfer.expired': false,
  'payout.approved': false,
  'payout.completed': true,
  'payout.rejected': false,
  'payout.failed': true,
  'payout.returned': true,
  'payout.canceled': false,
  'bonus_batch.ready': true,
  'bonus_batch.rejected': false,
  'bonus_batch.completed': true,
  'bonus_batch.partially_failed': false,
  'account.verified': true,
} as const;
export type EventType = keyof typeof LIST;
export const EVENT_TYPES = Object.keys(LIST) as [EventType, ...EventType[]];

/** What may be subscribed to. */
export type SubscribableType = { [Type in EventType]: (typeof LIST)[Type] extends true ? Type : never }[EventType];
export const SUBSCRIBABLE_TYPES = EVENT_TYPES.filter(isSubscribable);

export function isSubscribable(type: EventType): type is SubscribableType {
  return LIST[type];
}

export const events = defineTable(
  'events',
  {
    tenantId: column.uuid,
    /** Gapless for each tenant, from 1, in commit order, but for what `event_gaps` names. */
    sequence: column.bigint,
    id: column.uuid,
    type: column.oneOf(EVENT_TYPES),
    /** What it is about. */
    resourceId: column.uuid,
    /** The Event as JSON, serialised once: the same bytes in the log and in every delivery. */
    body: column.string,
    createdAt: column.time,
    /** Of the trace that wrote it; null outside one. */
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
    /** How often the log was put back to an earlier moment: each event after carries it. */
    restores: column.integer,
  },
  ['tenantId'],
);
export type EventCounter = RowOf<typeof eventCounters>;

/** The last event of each type, written under the counter's lock: whoever waits for some types alone asks here. */
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

/** How long events are kept, as the operator has set it. One row at most; none: for ever. */
export const eventRetention = defineTable(
  'event_retention',
  {
    name: column.oneOf(['events']),
    /** Null: for ever. */
    days: column.nullable(column.integer),
  },
  ['name'],
);

/** What retention has removed of each tenant's log. No row: nothing. */
export const eventRemovals = defineTable(
  'event_removals',
  {
    tenantId: column.uuid,
    /** The last sequence that is gone. */
    removedThrough: column.bigint,
    /** The `created_at` of that event. */
    removedUntil: column.time,
  },
  ['tenantId'],
);
export type EventRemoval = RowOf<typeof eventRemovals>;
