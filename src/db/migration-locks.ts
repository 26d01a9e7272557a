import { hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource, QueryRunner } from 'typeorm';
import { z } from 'zod';
import { errnoOf, LOCK_WAIT_TIMEOUT } from './failures.js';

/** Locks of migrations, against each other and statements (docs/operations/upgrade.md, Upgrade). */

const MIGRATION_LOCK_S = 900;
/** Pause before a retry, in which statements queued behind the migration run. */
const RETRY_PAUSE_MS = 1_000;

/** Another process is migrating the same database, and did not finish in time. */
export class MigrationUnderWay extends Error {
  override name = 'MigrationUnderWay';
}

/** Takes the lock on the database's migrations for this connection. Throws MigrationUnderWay. */
export async function takeMigrationLock(source: DataSource, database: string): Promise<void> {
  // A lock's name has at most 64 characters, and a database's name may be as long.
  const name = hash('sha256', `migrations of ${database}`).slice(0, 40);
  const rows: unknown = await source.query(
    `SELECT GET_LOCK('${name}', ${MIGRATION_LOCK_S}) AS got`,
  );
  if (z.array(z.object({ got: z.coerce.number() })).parse(rows)[0]?.got === 1) return;
  throw new MigrationUnderWay(
    `another process migrates ${database}, and was not done after ${MIGRATION_LOCK_S} s`,
  );
}

/**
 * Limits each wait of a migration for a table, because later statements queue behind it, and
 * repeats the statement until it succeeds, because earlier ones cannot be undone.
 */
export async function limitLockWaits(
  source: DataSource,
  lockWaitS: number,
  onWait: (statement: string) => void,
): Promise<void> {
  await source.query(
    `SET SESSION lock_wait_timeout=${lockWaitS}, SESSION innodb_lock_wait_timeout=${lockWaitS}`,
  );
  const make = source.createQueryRunner.bind(source);
  source.createQueryRunner = (mode) => retryLockWaits(make(mode), onWait);
}

function retryLockWaits(runner: QueryRunner, onWait: (statement: string) => void): QueryRunner {
  const query = runner.query.bind(runner);
  runner.query = async (...call: Parameters<QueryRunner['query']>) => {
    for (;;)
      try {
        return await query(...call);
      } catch (failure) {
        if (errnoOf(failure) !== LOCK_WAIT_TIMEOUT) throw failure;
        onWait(call[0]);
        await sleep(RETRY_PAUSE_MS);
      }
  };
  return runner;
}
