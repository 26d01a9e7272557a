import * as column from '../columns.js';
import { defineTable } from '../table.js';

/** A sweep and the worker process that does it. All times are by MySQL's clock. */
export const sweepLeases = defineTable(
  'sweep_leases',
  {
    name: column.varchar(100),
    /** Null until a process has had the sweep. */
    holder: column.nullable(column.uuid),
    /** The holder's host and process number. */
    worker: column.nullable(column.varchar(200)),
    takenAt: column.time,
    leaseUntil: column.time,
  },
  { key: ['name'] },
);
