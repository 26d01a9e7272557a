import * as column from '../columns.js';
import { defineTable, type RowOf } from '../table.js';

/** `copy`: a row that a dump contains (`copyMark`). `worker`: any process of the running service. */
const RESTORE_NOTICERS = ['operator', 'copy', 'migration', 'worker'] as const;

/** An unfinished restore closes the ledger: no process posts. (docs/operations/backup.md) */
export const restores = defineTable(
  'restores',
  {
    id: column.uuid,
    noticedBy: column.oneOf(RESTORE_NOTICERS),
    reason: column.varchar(140),
    beganAt: column.time,
    beganBy: column.nullable(column.varchar(80)),
    beganById: column.nullable(column.uuid),
    /** Everything later is lost. Null until the restore has begun, and if nothing is lost. */
    restoredTo: column.nullable(column.time),
    lostUntil: column.nullable(column.time),
    /** More sequences than any tenant can have used in the lost part. Null like `restoredTo`. */
    skip: column.nullable(column.bigint),
    sequencesMovedAt: column.nullable(column.time),
    workflowsRebuiltAt: column.nullable(column.time),
    railsQueriedAt: column.nullable(column.time),
    auditedAt: column.nullable(column.time),
    finishedAt: column.nullable(column.time),
    finishedBy: column.nullable(column.varchar(80)),
    finishedById: column.nullable(column.uuid),
    workflowsNotifiedAt: column.nullable(column.time),
  },
  { indexes: { finished: ['finishedAt'], notified: ['workflowsNotifiedAt'] } },
);
export type Restore = RowOf<typeof restores>;

/** Sequences that a restore skips, because receivers may have seen them in the lost part. */
export const eventGaps = defineTable(
  'event_gaps',
  {
    tenantId: column.uuid,
    /** 0 if the gap is at the start of the log. */
    afterSequence: column.bigint,
    throughSequence: column.bigint,
    restoreId: column.uuid,
    restoredTo: column.time,
    /** Events before the gap are not dated later than this, and events after it not earlier. */
    announcedAt: column.time,
  },
  { key: ['tenantId', 'afterSequence'], unique: { restoreTenant: ['restoreId', 'tenantId'] } },
);
export type EventGap = RowOf<typeof eventGaps>;

/**
 * How a payout differs at its rail after a restore. `unknown_here`: only the rail has it.
 * `approval_lost`: the rail has it, but its approval, or the execution of its batch, was lost here. `not_paid_there`: the rail does
 * not know a payout that it had accepted. `goes_on`: the workflow continues without a contradiction.
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
    payoutId: column.uuid,
    here: column.varchar(40),
    there: column.varchar(200),
    foundAt: column.time,
  },
  { key: ['restoreId', 'kind', 'rail', 'payoutId'] },
);
export type RestoreFinding = RowOf<typeof restoreFindings>;
