import * as column from '../columns.js';
import { defineTable, type RowOf } from '../table.js';

/** Ended passes of the scheduled audit over the whole ledger. */
export const auditPasses = defineTable(
  'audit_passes',
  { id: column.uuid, beganAt: column.time, endedAt: column.time },
  { indexes: { ended: ['endedAt'] } },
);

/** Findings, stored once until an operator has acknowledged them. */
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
