import * as column from '../columns.js';
import { defineTable, type RowOf } from '../table.js';

/** `half_open`: one payout is being asked about, to see whether the rail answers again. */
export const BREAKER_STATES = ['closed', 'open', 'half_open'] as const;

/** Whether a rail answers, as all workers together have found. A rail without a row always has. */
export const railBreakers = defineTable(
  'rail_breakers',
  {
    /** As payouts name it. */
    rail: column.string,
    state: column.oneOf(BREAKER_STATES),
    /** When it was opened, or closed again. */
    since: column.time,
    /** Calls without an answer since the last that had one, each about another payout than the call before. */
    failures: column.integer,
    /** Whose call was the last of them. */
    lastPayoutId: column.nullable(column.uuid),
    /** What the last was: a line for operators, without personal data. */
    lastFailure: column.nullable(column.string),
    lastFailureAt: column.nullable(column.time),
    /** How often the rail was tried since it was opened. */
    probes: column.integer,
    /** When it is tried next; while it is, by when that has come to something. Null while it is closed. */
    probeAt: column.nullable(column.time),
    /** Closed again: when what waited for it is told, or told by another worker. Null where nothing is to be told. */
    wakeAt: column.nullable(column.time),
  },
  ['rail'],
);
export type RailBreaker = RowOf<typeof railBreakers>;
