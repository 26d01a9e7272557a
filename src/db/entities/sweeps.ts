import * as column from '../columns.js';
import { defineTable, type RowOf } from '../table.js';

/** Which worker process looks for what is due. All times here are MySQL's own: the processes' clocks play no part. */

/** A sweep, or one part of it, and the process that does it. */
export const sweepLeases = defineTable(
  'sweep_leases',
  {
    name: column.string,
    /** Null: nobody ever. */
    holder: column.nullable(column.uuid),
    takenAt: column.time,
    leaseUntil: column.time,
  },
  ['name'],
);

/** A worker process, for as long as it lives. */
export const sweepWorkers = defineTable('sweep_workers', {
  id: column.uuid,
  /** Its machine and number there. */
  label: column.string,
  startedAt: column.time,
  seenUntil: column.time,
});

/** How far a sweep that goes through much, a little at a time, has come. */
export const sweepPasses = defineTable(
  'sweep_passes',
  {
    name: column.string,
    beganAt: column.time,
    /** What it goes through now, in the words of whichever release does, and behind which one; both null: it is at its end. */
    atType: column.nullable(column.string),
    afterId: column.nullable(column.uuid),
    /** How many it has found so far, and the pass before in all; null: there was none. */
    found: column.integer,
    foundBefore: column.nullable(column.integer),
  },
  ['name'],
);
export type SweepPass = RowOf<typeof sweepPasses>;
