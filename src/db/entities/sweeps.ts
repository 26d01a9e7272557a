import * as column from '../columns.js';
import { defineTable, type RowOf } from '../table.js';

/** Which worker process does which sweep. All times are MySQL's own: the processes' clocks play no part. */

/** A sweep, or a part of one, and the process that does it. */
export const sweepLeases = defineTable(
  'sweep_leases',
  {
    name: column.varchar(100),
    /** Null: nobody yet. */
    holder: column.nullable(column.uuid),
    takenAt: column.time,
    leaseUntil: column.time,
  },
  { key: ['name'] },
);

/** A worker process, for as long as it lives. */
export const sweepWorkers = defineTable('sweep_workers', {
  id: column.uuid,
  /** Its host and process number. */
  label: column.varchar(200),
  startedAt: column.time,
  seenUntil: column.time,
});

/** The progress of a sweep that works through a lot, a little at a time. */
export const sweepPasses = defineTable(
  'sweep_passes',
  {
    name: column.varchar(100),
    beganAt: column.time,
    /** The type it is at, as the current release names it, and the last id handled; both null: it is done. */
    atType: column.nullable(column.varchar(40)),
    afterId: column.nullable(column.uuid),
    /** How many it has found so far, and how many the previous pass found; null: there was none. */
    found: column.integer,
    foundBefore: column.nullable(column.integer),
  },
  { key: ['name'] },
);
export type SweepPass = RowOf<typeof sweepPasses>;
