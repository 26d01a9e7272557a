import { groupBy } from '../core/collections.js';
import { string } from '../db/columns.js';
import type { Reader } from '../db/database.js';
import { auditLog } from '../db/entities/identity.js';
import { literal, literals } from '../db/statements.js';
import type { Uuid } from '../core/ids.js';

/** The action's details contain `seq`, the account's last entry at that time. */
export const CLOCK_RESET = 'account.reset_clock';

/** Returns the entries after which the account's clock was reset. */
export async function readClockResets(reader: Reader, accountId: Uuid): Promise<readonly bigint[]> {
  return (await readClockResetsOf(reader, [accountId])).get(accountId) ?? [];
}

/** Returns the clock resets of those of the given accounts that were reset. */
export async function readClockResetsOf(
  reader: Reader,
  accountIds: readonly Uuid[],
): Promise<ReadonlyMap<string, readonly bigint[]>> {
  const rows = await reader.query(
    `SELECT subject_id, details FROM audit_log WHERE subject_id IN (${literals(auditLog, 'subjectId', accountIds)})
     AND action=${literal(auditLog, 'action', CLOCK_RESET)} ORDER BY id`,
  );
  return new Map(
    Array.from(
      groupBy(rows, (row) => string.parse(row.subject_id)),
      ([accountId, own]) => {
        const seqs = own.map(
          (row) => (JSON.parse(string.parse(row.details)) as { seq?: unknown }).seq,
        );
        return [accountId, [...new Set(seqs)].map((seq) => BigInt(String(seq)))];
      },
    ),
  );
}

/** Returns whether the account's clock was reset after this entry. */
export async function wasReset(reader: Reader, accountId: Uuid, seq: bigint): Promise<boolean> {
  return (await readClockResets(reader, accountId)).includes(seq);
}
