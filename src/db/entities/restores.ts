import * as column from '../columns.js';
import { defineTable, type RowOf } from '../table.js';

/** Restores of the database, and the findings to resolve before postings resume. */

/**
 * Who noticed the restore. `copy`: the mark that a copy contains. `worker`: any process of the
 * running service.
 */
const RESTORE_NOTICERS = ['operator', 'copy', 'migration', 'worker'] as const;

/**
 * An unfinished restore closes the ledger: no process posts anything. (docs/operations/backup.md,
 * Backup and restore)
 */
export const restores = defineTable(
  'restores',
  {
    id: column.uuid,
    noticedBy: column.oneOf(RESTORE_NOTICERS),
    reason: column.varchar(140),
    beganAt: column.time,
    /** Null until one of the staff has begun it. */
    beganBy: column.nullable(column.varchar(80)),
    beganById: column.nullable(column.uuid),
    /**
     * Everything committed later is lost; null until the restore has begun, and if nothing is lost.
     */
    restoredTo: column.nullable(column.time),
    /** When the lost part ended; null as above. */
    lostUntil: column.nullable(column.time),
    /** More sequences than any tenant can have used in the lost part; null as above. */
    skip: column.nullable(column.bigint),
    /** When each step was done; null: not yet. */
    movedAt: column.nullable(column.time),
    rebuiltAt: column.nullable(column.time),
    askedAt: column.nullable(column.time),
    auditedAt: column.nullable(column.time),
    finishedAt: column.nullable(column.time),
    finishedBy: column.nullable(column.varchar(80)),
    finishedById: column.nullable(column.uuid),
    /** Time at which a worker had notified every running workflow. */
    toldAt: column.nullable(column.time),
  },
  { indexes: { finished: ['finishedAt'], told: ['toldAt'] } },
);
export type Restore = RowOf<typeof restores>;

/**
 * The sequences that a restore skips in a tenant's log, because receivers may have seen them in the
 * lost part.
 */
export const eventGaps = defineTable(
  'event_gaps',
  {
    tenantId: column.uuid,
    /** The last event before the gap; 0: none. */
    afterSequence: column.bigint,
    /** The last sequence skipped: the next event follows it. */
    throughSequence: column.bigint,
    restoreId: column.uuid,
    restoredTo: column.time,
    /** No event before the gap is dated later, and none after it earlier. */
    announcedAt: column.time,
  },
  { key: ['tenantId', 'afterSequence'], unique: { restoreTenant: ['restoreId', 'tenantId'] } },
);
export type EventGap = RowOf<typeof eventGaps>;

/**
 * How a payout differs from what its rail says after a restore. `unknown_here`: we have no such
 * payout; `approval_lost`: it waits for approval here, but the rail has it; `amount`: the amounts
 * differ; `not_paid_there`: the rail does not know a payout that it had accepted; `goes_on`: no
 * contradiction, its workflow follows the rail.
 */
export const RESTORE_FINDINGS = [
  'unknown_here',
  'approval_lost',
  'amount',
  'not_paid_there',
  'goes_on',
] as const;

export const restoreFindings = defineTable(
  'restore_findings',
  {
    restoreId: column.uuid,
    kind: column.oneOf(RESTORE_FINDINGS),
    rail: column.varchar(64),
    /** The payout's key at the rail. */
    payoutId: column.uuid,
    here: column.varchar(40),
    there: column.varchar(200),
    foundAt: column.time,
  },
  { key: ['restoreId', 'kind', 'rail', 'payoutId'] },
);
export type RestoreFinding = RowOf<typeof restoreFindings>;
