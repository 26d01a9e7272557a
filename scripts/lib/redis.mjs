import { existsSync } from 'node:fs';
import { canInstall, install } from './apt.mjs';
import { say } from './progress.mjs';
import { findProgram } from './run.mjs';

const NAME = 'redis-server';

/**
 * The Redis server of this machine: named by REDIS_SERVER_BIN, on the PATH, or, for root on Debian or Ubuntu, from apt.
 * Undefined if it is missing and cannot be installed; tests with Redis are then pending, and say so.
 */
export async function findRedis() {
  const known = process.env.REDIS_SERVER_BIN || findProgram(NAME);
  if (known && existsSync(known)) return known;
  if (canInstall()) {
    // At this runlevel the package starts no service.
    const env = { RUNLEVEL: '1' };
    const title = 'Fetching Redis (once, for the tests of shared rate limits)';
    await install(title, 'Redis could not be fetched', [NAME], { env }).catch((error) =>
      say(`  ${error.message}`),
    );
  }
  const found = findProgram(NAME);
  if (!found)
    say(
      '  REDIS IS MISSING: shared rate limits are not tested. Install redis-server, or set REDIS_SERVER_BIN.',
    );
  return found || undefined;
}
