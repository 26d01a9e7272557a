import * as column from '../columns.js';
import { defineTable, type RowOf } from '../table.js';

/** The scheduled audit: its position and its findings. */

/** One pass through the whole ledger. */
export const auditPasses = defineTable(
  'audit_passes',
  {
    id: column.uuid,
    /** True for the pass under way, null for those that have ended, so there is never a second. */
    isOpen: column.nullable(column.boolean),
    beganAt: column.time,
    endedAt: column.nullable(column.time),
    /** The number of the last step that began. Only that one may write. */
    fence: column.integer,
    /** Rows read so far. */
    rowsChecked: column.bigint,
  },
  { unique: { oneOpen: ['isOpen'] }, indexes: { ended: ['endedAt'] } },
);
export type AuditPass = RowOf<typeof auditPasses>;

/** The position of the pass under way, in pieces. */
export const auditPieces = defineTable(
  'audit_pieces',
  { passId: column.uuid, number: column.integer, content: column.bytes },
  { key: ['passId', 'number'] },
);

/** Findings, each stored once however often it recurs, until somebody has acknowledged it. */
export const auditFindings = defineTable(
  'audit_findings',
  {
    /** Derived from check, subject and message. */
    id: column.uuid,
    checkName: column.ascii(60),
    subject: column.varchar(255),
    message: column.varchar(2000),
    firstFoundAt: column.time,
    lastFoundAt: column.time,
    acknowledgedAt: column.nullable(column.time),
    acknowledgedBy: column.nullable(column.varchar(140)),
  },
  { indexes: { acknowledged: ['acknowledgedAt', 'lastFoundAt'] } },
);
export type AuditFinding = RowOf<typeof auditFindings>;
