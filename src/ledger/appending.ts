import type { StoredRow, Transaction } from '../db/database.js';

/** Rows of a log that are numbered, and so written, under the lock of the log's head. */
export interface Appending {
  /** Statements that lock the heads; the last answers them. None: there is nothing to append. */
  readonly locks: readonly string[];
  /** The statements that write, given the heads. */
  readonly writes: (heads: readonly StoredRow[]) => readonly string[];
}

/**
 * Appends to these logs in two round trips, of which the first is shared with these statements. Heads are the last that a
 * transaction locks, those of the events before those of the audit log: nothing may be locked after.
 * (docs/architecture.md, Locks)
 */
export async function appendTo(
  transaction: Transaction,
  logs: readonly Appending[],
  after: readonly string[] = [],
): Promise<void> {
  const wanted = logs.filter(({ locks }) => locks.length > 0);
  const answers = await transaction.all([...after, ...wanted.flatMap(({ locks }) => locks)]);
  let answered = after.length;
  const statements = wanted.flatMap(({ locks, writes }) => {
    answered += locks.length;
    return writes(answers[answered - 1] ?? []);
  });
  await transaction.all(statements);
}
