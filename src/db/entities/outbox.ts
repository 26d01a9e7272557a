import * as column from '../columns.js';
import { defineTable, type RowOf } from '../table.js';

const WORKFLOW_RESOURCE_TYPES = [
  'transfer',
  'payout',
  'bonus_batch',
  'payout_batch',
  'webhook_endpoint',
  'schedule',
] as const;
export type WorkflowResourceType = (typeof WORKFLOW_RESOURCE_TYPES)[number];

/** Resources whose workflow must be started or signaled. A row is deleted once Temporal accepts. */
export const outbox = defineTable(
  'outbox',
  {
    id: column.uuid,
    tenantId: column.uuid,
    resourceType: column.openEnum(WORKFLOW_RESOURCE_TYPES),
    resourceId: column.uuid,
    createdAt: column.time,
    /** When the sweeper next tries it; never for a dead letter. */
    dueAt: column.time,
    attempts: column.integer,
    lastError: column.nullable(column.varchar(300)),
    /** Since when it is a dead letter, which failed too often and waits for an operator. */
    deadAt: column.nullable(column.time),
    traceparent: column.nullable(column.asciiChar(55)),
  },
  {
    indexes: {
      created: ['createdAt'],
      due: ['tenantId', 'dueAt', 'id'],
      resource: ['resourceId'],
    },
  },
);
export type OutboxRow = RowOf<typeof outbox>;
