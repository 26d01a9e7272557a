import type { Database, Transaction } from './database.js';
import { TransactionRetryable } from './failures.js';

const TRIES = 4;
const PAUSE_MS = 20;

/** Retried where the server rolled it back for a transient reason, such as a busy row. Throws like withTransaction. */
export async function transact<T>(database: Database, work: (transaction: Transaction) => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await database.withTransaction(work);
    } catch (failure) {
      if (!(failure instanceof TransactionRetryable) || tries === TRIES) throw failure;
      await new Promise((resolve) => setTimeout(resolve, Math.random() * PAUSE_MS * tries));
    }
  }
}
