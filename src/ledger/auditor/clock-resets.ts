import { string, uuid } from '../../db/columns.js';
import type { Reader } from '../../db/database.js';
import { auditLog } from '../../db/entities/identity.js';
import { literal } from '../../db/statements.js';
import type { Uuid } from '../../core/ids.js';

/** How the audit log calls it when an operator lets an account begin anew in time. Its details have `seq`, the last entry then. */
export const CLOCK_RESET = 'account.reset_clock';

/**
 * Whether an operator has reset the account's last instant behind this entry: the next one may then be dated before it. Asked
 * only where time runs backwards, which is nearly never.
 */
export async function wasReset(reader: Reader, accountId: Uuid, seq: bigint): Promise<boolean> {
  const rows = await reader.query(
    `SELECT details FROM audit_log WHERE subject_id=${literal(auditLog, 'subjectId', accountId)}
     AND action=${literal(auditLog, 'action', CLOCK_RESET)}`,
  );
  return rows.some((row) => (JSON.parse(string.parse(row.details)) as { seq?: unknown }).seq === seq.toString());
}

/** An id as the auditor's own statements write it. */
export function idOfHex(hex: string): Uuid {
  return uuid.parse(Buffer.from(hex, 'hex'));
}
