import * as column from '../columns.js';
import { defineTable, type RowOf } from '../table.js';

/** Every type, in order, and whether webhooks may carry it. (docs/contract.md, Events) */
const CARRIED_BY_WEBHOOKS = {
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
  'payout_batch.ready': true,
  'payout_batch.rejected': false,
  'payout_batch.completed': true,
  'payout_batch.partially_failed': false,
  'account.verified': true,
} as const;
export type EventType = keyof typeof CARRIED_BY_WEBHOOKS;
export const EVENT_TYPES = Object.keys(CARRIED_BY_WEBHOOKS) as [EventType, ...EventType[]];

export type SubscribableType = {
  [Type in EventType]: (typeof CARRIED_BY_WEBHOOKS)[Type] extends true ? Type : never;
}[EventType];
export const SUBSCRIBABLE_TYPES = EVENT_TYPES.filter(isSubscribable);

export function isSubscribable(type: EventType): type is SubscribableType {
  return CARRIED_BY_WEBHOOKS[type];
}

export const events = defineTable(
  'events',
  {
    tenantId: column.uuid,
    /** Gapless for each tenant, from 1, in commit order, except for what `event_gaps` lists. */
    sequence: column.bigint,
    id: column.uuid,
    type: column.asciiEnum(EVENT_TYPES, 40),
    resourceId: column.uuid,
    /** JSON, sent unchanged in the event log and in every delivery. */
    body: column.mediumtext,
    createdAt: column.time,
    traceparent: column.nullable(column.asciiChar(55)),
  },
  {
    key: ['tenantId', 'sequence'],
    unique: { id: ['id'] },
    indexes: { type: ['tenantId', 'type', 'sequence'] },
  },
);
export type EventRow = RowOf<typeof events>;

/** The last sequence of each tenant. Locked after everything else of a transaction. */
export const eventCounters = defineTable(
  'event_counters',
  {
    tenantId: column.uuid,
    lastSequence: column.bigint,
    lastAt: column.time,
    /** How often the log was restored to an earlier moment. */
    restores: column.integer,
  },
  { key: ['tenantId'], indexes: { recent: ['lastAt', 'lastSequence'] } },
);
export type EventCounter = RowOf<typeof eventCounters>;

/** The last event of each type, for readers that wait only for certain types. */
export const eventHeads = defineTable(
  'event_heads',
  {
    tenantId: column.uuid,
    type: column.asciiEnum(EVENT_TYPES, 40),
    lastSequence: column.bigint,
  },
  { key: ['tenantId', 'type'] },
);
export type EventHead = RowOf<typeof eventHeads>;

/** How long events are kept. Without a row, they are kept forever. */
export const eventRetention = defineTable(
  'event_retention',
  {
    name: column.asciiEnum(['events'], 20),
    /** Null: forever. */
    days: column.nullable(column.integer),
  },
  { key: ['name'] },
);

/** How far retention has removed each tenant's log from its start. */
export const eventRemovals = defineTable(
  'event_removals',
  {
    tenantId: column.uuid,
    removedThrough: column.bigint,
    /** The `created_at` of the event at `removedThrough`. */
    removedUntil: column.time,
  },
  { key: ['tenantId'] },
);
export type EventRemoval = RowOf<typeof eventRemovals>;
