import * as column from '../columns.js';
import { defineTable, type RowOf } from '../table.js';

/** What a database that was put back to an earlier moment has to make good, before it is served again. */

/** Who noticed that it was put back: one of the staff; the copy itself, as it was loaded; the migrations; a worker. */
export const RESTORE_NOTICERS = ['operator', 'copy', 'migration', 'worker'] as const;

/** One that is not finished closes the ledger: nothing is posted, in any process. (docs/operations.md, Backup and restore) */
export const restores = defineTable('restores', {
  id: column.uuid,
  noticedBy: column.oneOf(RESTORE_NOTICERS),
  reason: column.string,
  beganAt: column.time,
  /** Null until one of the staff has begun it. */
  beganBy: column.nullable(column.string),
  beganById: column.nullable(column.uuid),
  /** What was committed later is lost; null until it is begun, and where nothing is lost. */
  restoredTo: column.nullable(column.time),
  /** Until then the lost part went on; null as above. */
  lostUntil: column.nullable(column.time),
  /** How many sequences no tenant can have used since then; null as above. */
  skip: column.nullable(column.bigint),
  /** When each step was done; null: not yet. */
  movedAt: column.nullable(column.time),
  rebuiltAt: column.nullable(column.time),
  askedAt: column.nullable(column.time),
  auditedAt: column.nullable(column.time),
  finishedAt: column.nullable(column.time),
  finishedBy: column.nullable(column.string),
  finishedById: column.nullable(column.uuid),
  /** When a worker had told every running workflow to look again. */
  toldAt: column.nullable(column.time),
});
export type Restore = RowOf<typeof restores>;

/** The sequences that a restore has left out of a tenant's log: receivers may have seen them in what was lost. */
export const eventGaps = defineTable(
  'event_gaps',
  {
    tenantId: column.uuid,
    /** The last event before the gap; 0: none. */
    afterSequence: column.bigint,
    /** The last sequence that is left out: the next event follows it. */
    throughSequence: column.bigint,
    restoreId: column.uuid,
    restoredTo: column.time,
    /** No event before the gap is dated later, and none behind it earlier. */
    announcedAt: column.time,
  },
  ['tenantId', 'afterSequence'],
);
export type EventGap = RowOf<typeof eventGaps>;

/**
 * How a payout here differs from what its rail says after a restore. `unknown_here`: we have no such payout; `approval_lost`: it waits
 * for approval here, and the rail has it; `amount`: another amount; `not_paid_there`: the rail never heard of what it had taken;
 * `goes_on`: no contradiction, its workflow takes the rail's word.
 */
export const RESTORE_FINDINGS = ['unknown_here', 'approval_lost', 'amount', 'not_paid_there', 'goes_on'] as const;

export const restoreFindings = defineTable(
  'restore_findings',
  {
    restoreId: column.uuid,
    kind: column.oneOf(RESTORE_FINDINGS),
    rail: column.string,
    /** The payout's key at the rail. */
    payoutId: column.uuid,
    here: column.string,
    there: column.string,
    foundAt: column.time,
  },
  ['restoreId', 'kind', 'rail', 'payoutId'],
);
export type RestoreFinding = RowOf<typeof restoreFindings>;
