import type { Database, Transaction } from './database.js';
import { TransactionRetryable } from './failures.js';
import type { LimitedTenant } from './connection-limit.js';

const TRIES = 4;
const PAUSE_MS = 20;

type Work<T> = (transaction: Transaction) => Promise<T>;

export function transact<T>(database: Database, work: Work<T>): Promise<T> {
  return transactFor(null, database, work);
}

/** Runs a transaction with retries on the connections of one tenant's share. */
export async function transactFor<T>(
  of: LimitedTenant,
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
