import { existsSync } from 'node:fs';
import { say, step } from './progress.mjs';
import { findProgram, run } from './run.mjs';

const NAME = 'redis-server';

/**
 * The Redis server of this machine: named by REDIS_SERVER_BIN, on the PATH, or, for root on Debian or Ubuntu, from apt.
 * Undefined if it is missing and cannot be installed; tests with Redis are then pending, and say so.
 */
export async function findRedis() {
  const known = process.env.REDIS_SERVER_BIN || findProgram(NAME);
  if (known && existsSync(known)) return known;
  if (process.getuid?.() === 0 && findProgram('apt-get')) {
    try {
      await step('Fetching Redis (once, for the tests of shared rate limits)', fetchRedis);
    } catch (error) {
      say(`  ${error.message}`);
    }
  }
  const found = findProgram(NAME);
  if (!found)
    say(
      '  REDIS IS MISSING: shared rate limits are not tested. Install redis-server, or set REDIS_SERVER_BIN.',
    );
  return found || undefined;
}

async function fetchRedis(onLine) {
  const failure = 'Redis could not be fetched';
  // At this runlevel the package starts no service.
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
  await run('apt-get', ['update'], { failure, onLine, env });
  await run('apt-get', ['install', '-y', '--no-install-recommends', NAME], {
    failure,
    onLine,
    env,
  });
}
