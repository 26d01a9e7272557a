import type { Actor } from '../../access/audit-log.js';
import type { OpsConfig } from '../../config/config.js';
import type { Database } from '../../db/database.js';
import { errnoOf, isUnavailable } from '../../db/failures.js';
import { mysqlAddress, withDatabase } from '../../db/servers.js';
import { hasNoManager } from '../../staff/people.js';
import { buildOpsParts, type OpsDeps } from '../context.js';
import { OpsError } from '../failures.js';

/**
 * A database user who may change the schema creates the staff's first manager.
 * (docs/operations/command-line.md, The first of the staff)
 */

interface Administrator {
  /**
   * Connected as the administrator, so that actions apply to the database where they have the
   * right.
   */
  readonly deps: OpsDeps;
  readonly actor: Actor;
}

/**
 * Returns null without the address, or if a person manages the staff. Throws OpsError if the
 * address is not an administrator's.
 */
export async function findAdministrator(
  config: OpsConfig,
  deps: OpsDeps,
): Promise<Administrator | null> {
  if (config.MYSQL_ADMIN_URL === undefined || !(await hasNoManager(deps.database.reader)))
    return null;
  const url = withDatabase(config.MYSQL_ADMIN_URL, mysqlAddress(config.MYSQL_URL).database);
  const own = buildOpsParts({ ...config, MYSQL_URL: url }, () => undefined);
  try {
    const actor = { channel: 'ops', name: await provenName(own.database) } as const;
    // Checked on the database that they can change, which may differ from the one in MYSQL_URL.
    if (!(await hasNoManager(own.database.reader)))
      throw new OpsError('a member of the staff may already manage that database');
    await own.databaseClock.read(own.database.lookup);
    return { deps: own, actor };
  } catch (failure) {
    await own.database.close();
    throw failure;
  }
}

async function provenName(database: Database): Promise<string> {
  try {
    // Changes nothing, but requires the right to change the table.
    await database.withTransaction((transaction) => transaction.execute('ALTER TABLE staff'));
    const [row] = await database.reader.query('SELECT CURRENT_USER() AS name');
    return `mysql ${String(row?.name)}`;
  } catch (failure) {
    if (isUnavailable(failure) && !isRefused(failure)) throw failure;
    throw new OpsError(
      `the user in MYSQL_ADMIN_URL may not change the tables (error ${errnoOf(failure) ?? 0})`,
    );
  }
}

/** Access denied: to the server, to the database, to the table. */
const REFUSED = new Set([1045, 1044, 1142, 1227, 1698]);

function isRefused(failure: unknown): boolean {
  const errno = errnoOf(failure) ?? (failure instanceof Error ? errnoOf(failure.cause) : null);
  return errno !== null && REFUSED.has(errno);
}
