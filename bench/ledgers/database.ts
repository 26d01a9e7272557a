import { Database } from '../../src/db/database.js';

const STATEMENT_MS = 60_000;

/**
 * The service's own access to a ledger's database, for as long as `work` lasts: to prepare or read things besides the
 * load.
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
