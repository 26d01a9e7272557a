import type { Uuid } from '../core/ids.js';
import { accounts } from '../db/entities/parties.js';
import { literals } from '../db/statements.js';

/**
 * Acts on everything that is due, at most `limit` at a time, and returns how many it found in the end. An account that
 * cannot be decided about, such as one with a wrong clock, keeps back no other's: what acting on its rows throws is
 * thrown when the others are done.
 *
 * @param find What is due, oldest first. It is given a condition to add (SQL, possibly empty) and the number of rows.
 */
export async function actOnDue<Row extends { readonly sourceAccountId: Uuid }>(
  limit: number,
  find: (others: string, limit: number) => Promise<readonly Row[]>,
  act: (row: Row) => Promise<unknown>,
): Promise<number> {
  const faults = new Map<Uuid, unknown>();
  for (;;) {
    const known = [...faults.keys()];
    const others =
      known.length === 0 ? '' : `AND source_account_id NOT IN (${literals(accounts, 'id', known)})`;
    const rows = await find(others, Math.trunc(limit));
    await Promise.all(
      rows.map((row) => act(row).catch((fault: unknown) => faults.set(row.sourceAccountId, fault))),
    );
    // Where so many fail, it is not for the accounts.
    if (faults.size > known.length && faults.size < limit) continue;
    for (const fault of faults.values()) throw fault;
    return rows.length;
  }
}
