import * as column from '../columns.js';
import { defineTable, type RowOf } from '../table.js';

/** The audit that runs by itself: where it stands, and what it has found. */

/** One way through the whole ledger. */
export const auditPasses = defineTable('audit_passes', {
  id: column.uuid,
  /** True of the one that is under way; null of those that have ended, so that there is never a second. */
  isOpen: column.nullable(column.boolean),
  beganAt: column.time,
  endedAt: column.nullable(column.time),
  /** The number of the last step that began. Only that one may write. */
  fence: column.integer,
  /** Rows that were looked at so far. */
  rowsChecked: column.bigint,
});
export type AuditPass = RowOf<typeof auditPasses>;

/** Where the one under way stands, in pieces. */
export const auditPieces = defineTable(
  'audit_pieces',
  { passId: column.uuid, number: column.integer, content: column.bytes },
  ['passId', 'number'],
);

/** What was found, once however often; it stays until somebody has acknowledged it. */
export const auditFindings = defineTable('audit_findings', {
  /** Made of check, subject and message. */
  id: column.uuid,
  checkName: column.string,
  subject: column.string,
  message: column.string,
  firstFoundAt: column.time,
  lastFoundAt: column.time,
  acknowledgedAt: column.nullable(column.time),
  acknowledgedBy: column.nullable(column.string),
});
export type AuditFinding = RowOf<typeof auditFindings>;
