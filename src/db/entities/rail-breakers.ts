import * as column from '../columns.js';
import { defineTable, type RowOf } from '../table.js';

/** `half_open`: the rail is being asked about one payout, to see whether it answers again. */
const BREAKER_STATES = ['closed', 'open', 'half_open'] as const;

/**
 * Whether a rail answers, as all workers together have found. A rail without a row has always
 * answered.
 */
export const railBreakers = defineTable(
  'rail_breakers',
  {
    /** As payouts name it. */
    rail: column.ascii(40),
    state: column.oneOf(BREAKER_STATES),
    /** When it was opened, or closed again. */
    since: column.time,
    /**
     * Unanswered calls since the last answered one, each about a different payout than the call
     * before.
     */
    failures: column.integer,
    lastPayoutId: column.nullable(column.uuid),
    /** The last failure: a line for operators, without personal data. */
    lastFailure: column.nullable(column.varchar(200)),
    lastFailureAt: column.nullable(column.time),
    probes: column.integer,
    /**
     * When the next probe is due; during a probe, by when it must have a result. Null while closed.
     */
    probeAt: column.nullable(column.time),
    /** Due time for notifying waiting payouts after closing, by any worker. Null if none remain. */
    wakeAt: column.nullable(column.time),
  },
  { key: ['rail'] },
);
export type RailBreaker = RowOf<typeof railBreakers>;
