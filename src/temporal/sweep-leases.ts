import type { Uuid } from '../core/ids.js';
import { instant } from '../core/instant.js';
import { integer, string, uuid } from '../db/columns.js';
import type { Database } from '../db/database.js';
import { sweepLeases } from '../db/entities/sweeps.js';
import { equalsSql, insertSql, literal } from '../db/statements.js';
import { transact } from '../db/transact.js';

/**
 * Leases that decide which process runs a sweep. They do not protect the rows that it changes.
 * (docs/decisions/0039)
 */

export const LEASE_MS = 4_000;
const NOW = 'UTC_TIMESTAMP(3)';

/**
 * Renews the holder's leases and claims expired ones. Returns the names of all leases that it now
 * holds. Throws `DatabaseUnavailable`.
 */
export async function claimLeases(
  database: Database,
  holderId: Uuid,
  worker: string,
  names: readonly string[],
): Promise<readonly string[]> {
  const holder = uuid.literal(holderId);
  const among = equalsSql(sweepLeases, { name: names });
  // MySQL assigns from left to right, so this compares with the previous holder.
  await execute(
    database,
    `UPDATE sweep_leases SET taken_at=IF(holder<=>${holder}, taken_at, ${NOW}), holder=${holder},
       worker=${literal(sweepLeases, 'worker', worker)}, lease_until=${NOW}+INTERVAL ${LEASE_MS * 1_000} MICROSECOND
     WHERE ${among} AND (holder=${holder} OR lease_until<=${NOW})`,
  );
  const rows = await database.reader.query(
    `SELECT name, IFNULL(holder=${holder} AND lease_until>${NOW}, 0) AS is_held FROM sweep_leases WHERE ${among}`,
  );
  if (rows.length === names.length)
    return rows.flatMap((row) =>
      integer.parse(row.is_held) === 1 ? [string.parse(row.name)] : [],
    );
  const free = { holder: null, worker: null, takenAt: instant(0), leaseUntil: instant(0) };
  const rowsSql = insertSql(
    sweepLeases,
    names.map((name) => ({ name, ...free })),
  );
  await execute(database, `${rowsSql} ON DUPLICATE KEY UPDATE name=VALUES(name)`);
  return claimLeases(database, holderId, worker, names);
}

/** Ends all leases of a holder, so that other processes need not wait for their expiry. */
export function releaseLeases(database: Database, holder: Uuid): Promise<void> {
  return execute(
    database,
    `UPDATE sweep_leases SET lease_until=${NOW} WHERE holder=${uuid.literal(holder)} AND lease_until>${NOW}`,
  );
}

/** Executes a statement together with COMMIT, so that a process that freezes holds no lock. */
function execute(database: Database, sql: string): Promise<void> {
  return transact(database, (transaction) => {
    transaction.withCommit([sql]);
    return Promise.resolve();
  });
}
