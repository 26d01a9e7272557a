import type { Uuid } from '../core/ids.js';
import { accounts } from '../db/entities/parties.js';
import { literals } from '../db/statements.js';

/**
 * Acts on every due row, at most `limit` at a time, and returns how many rows the last search
 * found. A failure, for example of an account dated ahead of the clock, is thrown after the rows of
 * other accounts are processed. @param find Returns due rows, oldest first, that meet the SQL
 * condition.
 */
export async function performDue<Row extends { readonly sourceAccountId: Uuid }>(
  limit: number,
  find: (others: string, limit: number) => Promise<readonly Row[]>,
  perform: (row: Row) => Promise<unknown>,
): Promise<number> {
  const faults = new Map<Uuid, unknown>();
  for (;;) {
    const known = [...faults.keys()];
    const others =
      known.length === 0 ? '' : `AND source_account_id NOT IN (${literals(accounts, 'id', known)})`;
    const rows = await find(others, Math.trunc(limit));
    await Promise.all(
      rows.map((row) =>
        perform(row).catch((fault: unknown) => faults.set(row.sourceAccountId, fault)),
      ),
    );
    // If every row failed, the accounts are not the cause.
    if (faults.size > known.length && faults.size < limit) continue;
    for (const fault of faults.values()) throw fault;
    return rows.length;
  }
}
