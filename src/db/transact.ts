import type { Database, Transaction } from './database.js';
import { TransactionRetryable } from './failures.js';
import type { Beneficiary } from './places.js';

const TRIES = 4;
const PAUSE_MS = 20;

type Work<T> = (transaction: Transaction) => Promise<T>;

/** Retried where the server rolled it back for a transient reason, such as a busy row. Throws like withTransaction. */
export function transact<T>(database: Database, work: Work<T>): Promise<T> {
  return transactFor(null, database, work);
}

/** The same for what a tenant's request asks for: a crowd of its requests keeps no other tenant's waiting. */
export async function transactFor<T>(
  of: Beneficiary,
  database: Database,
  work: Work<T>,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await database.withTransaction(work, undefined, of);
    } catch (failure) {
      if (!(failure instanceof TransactionRetryable) || tries === TRIES) throw failure;
      await new Promise((resolve) => setTimeout(resolve, Math.random() * PAUSE_MS * tries));
    }
  }
}
