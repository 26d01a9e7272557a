import { firstIdAt } from '../core/ids.js';
import type { Instant } from '../core/instant.js';
import { uuid } from '../db/columns.js';
import type { Database, DatabaseDeps } from '../db/database.js';
import { transact } from '../db/transact.js';
import type { Sweep } from '../temporal/sweeper.js';
import { keptSince } from './reading.js';

const EVERY_MS = 600_000;
const ROWS_A_DELETE = 2_000;

export function requestsSweep({ database, clock }: DatabaseDeps): Sweep {
  return {
    name: 'old requests',
    everyMs: EVERY_MS,
    run: () => removeOldRequests(database, keptSince(clock())),
  };
}

/** Removes some requests that are older than `before`. Returns true if more remain. */
export async function removeOldRequests(database: Database, before: Instant): Promise<boolean> {
  const some = `DELETE FROM requests WHERE id<${uuid.literal(firstIdAt(before))} ORDER BY id LIMIT ${ROWS_A_DELETE}`;
  return (await transact(database, (transaction) => transaction.execute(some))) === ROWS_A_DELETE;
}
