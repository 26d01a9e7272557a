import * as column from '../columns.js';
import { defineTable, type RowOf } from '../table.js';

/** What waits in a workflow of its own. */
export const WAITING_TYPES = ['transfer', 'payout', 'bonus_batch'] as const;
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
  /** When the sweeper looks at it (again). */
  dueAt: column.time,
  attempts: column.integer,
  /** Why the last attempt failed, in a line for operators. */
  lastError: column.nullable(column.string),
});
export type OutboxRow = RowOf<typeof outbox>;
