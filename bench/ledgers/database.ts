import { Database } from '../../src/db/database.js';

const STATEMENT_MS = 60_000;

/**
 * Runs `work` with a connection to a ledger's database, to prepare or read data apart from the load.
 */
export async function withDatabase<T>(
  url: string,
  work: (database: Database) => Promise<T>,
): Promise<T> {
  const database = new Database({
    url,
    readConnections: 1,
    transactionConnections: 2,
    statementTimeoutMs: STATEMENT_MS,
  });
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}
