import * as column from '../columns.js';
import { defineTable, type RowOf } from '../table.js';

/** What waits in a workflow of its own. */
export const WAITING_TYPES = ['transfer', 'payout', 'bonus_batch', 'webhook_endpoint'] as const;
export type WaitingType = (typeof WAITING_TYPES)[number];

/**
 * A resource whose workflow has yet to learn that it exists or changed. Written in the transaction of the change, gone
 * when Temporal has taken it.
 */
export const outbox = defineTable('outbox', {
  id: column.uuid,
  tenantId: column.uuid,
  resourceType: column.oneOf(WAITING_TYPES),
  resourceId: column.uuid,
  createdAt: column.time,
  /** Which part of the outbox it is in: sweepers share the parts. */
  shard: column.integer,
  /** When the sweeper looks at it (again); of a dead letter never. */
  dueAt: column.time,
  attempts: column.integer,
  /** Why the last attempt failed, in a line for operators. */
  lastError: column.nullable(column.string),
  /** Since when it is a dead letter: it failed too often, and waits for an operator. Null: it is none. */
  deadAt: column.nullable(column.time),
  /** Of the trace that wrote it; null outside one. */
  traceparent: column.nullable(column.string),
});
export type OutboxRow = RowOf<typeof outbox>;
