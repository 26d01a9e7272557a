import * as column from '../columns.js';
import { defineTable, type RowOf } from '../table.js';

/** Passes of the scheduled audit over the whole ledger that have ended. */
export const auditPasses = defineTable(
  'audit_passes',
  { id: column.uuid, beganAt: column.time, endedAt: column.time },
  { indexes: { ended: ['endedAt'] } },
);

/** Findings, each stored once however often it recurs, until an operator has acknowledged it. */
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
