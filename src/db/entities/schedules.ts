import * as column from '../columns.js';
import { defineTable, type RowOf } from '../table.js';

export const SCHEDULE_STATUSES = ['active', 'paused', 'canceled', 'completed'] as const;
export type ScheduleStatus = (typeof SCHEDULE_STATUSES)[number];

export const SCHEDULE_UNITS = ['day', 'week', 'month'] as const;

/** Transfers to create later. The source account's row is the lock on its schedules. */
export const schedules = defineTable(
  'schedules',
  {
    id: column.uuid,
    tenantId: column.uuid,
    sourceAccountId: column.uuid,
    destinationAccountId: column.uuid,
    asset: column.asset,
    raw: column.bigint,
    description: column.nullable(column.varchar(140)),
    metadata: column.metadata,
    createdBy: column.uuid,
    createdAt: column.time,
    status: column.oneOf(SCHEDULE_STATUSES),
    startsAt: column.time,
    /** Null if it runs once. */
    everyUnit: column.nullable(column.oneOf(SCHEDULE_UNITS)),
    everyCount: column.nullable(column.integer),
    /** Inclusive. */
    endsAt: column.nullable(column.time),
    maxRuns: column.nullable(column.integer),
    /** Null unless it is active. */
    nextRunAt: column.nullable(column.time),
    /** Transfers created, refused ones included. */
    runs: column.integer,
  },
  {
    indexes: {
      due: ['status', 'nextRunAt'],
      source: ['sourceAccountId', 'createdAt', 'id'],
      status: ['tenantId', 'status', 'createdAt', 'id'],
    },
  },
);
export type Schedule = RowOf<typeof schedules>;
