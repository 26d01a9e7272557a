import { hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource, QueryRunner } from 'typeorm';
import { z } from 'zod';

/**
 * Locks of migrations, against each other and against statements (docs/operations/upgrade.md,
 * Upgrade).
 */

/** Wait for another process to finish its migrations. */
const TURN_S = 900;
/** Pause before a retry, in which statements queued behind the migration run. */
const BREATH_MS = 1_000;
/** ER_LOCK_WAIT_TIMEOUT: the statement had no effect. */
const LOCK_WAIT_TIMEOUT = 1205;

/** Another process is migrating the same database, and did not finish in time. */
export class MigrationUnderWay extends Error {
  override name = 'MigrationUnderWay';
}

/**
 * Takes the lock on the database's migrations for the single connection of `source`: losing the
 * connection loses the lock, and then nothing more can be done. Waits for another holder. Throws
 * MigrationUnderWay.
 */
export async function takeTurn(source: DataSource, database: string): Promise<void> {
  // A lock's name has at most 64 characters, and a database's name may be as long.
  const name = hash('sha256', `migrations of ${database}`).slice(0, 40);
  const rows: unknown = await source.query(`SELECT GET_LOCK('${name}', ${TURN_S}) AS got`);
  if (z.array(z.object({ got: z.coerce.number() })).parse(rows)[0]?.got === 1) return;
  throw new MigrationUnderWay(
    `another process migrates ${database}, and was not done after ${TURN_S} s`,
  );
}

/**
 * Limits each wait of a migration for a table to `lockWaitS`, because later statements queue behind
 * it. Retries the statement until it succeeds, because earlier statements cannot be undone. Calls
 * `onWait` for each retry.
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
  source.createQueryRunner = (mode) => patient(make(mode), onWait);
}

function patient(runner: QueryRunner, onWait: (statement: string) => void): QueryRunner {
  const query = runner.query.bind(runner);
  runner.query = async (...call: Parameters<QueryRunner['query']>) => {
    for (;;)
      try {
        return await query(...call);
      } catch (failure) {
        if (!isLockWait(failure)) throw failure;
        onWait(call[0]);
        await sleep(BREATH_MS);
      }
  };
  return runner;
}

function isLockWait(failure: unknown): boolean {
  return failure instanceof Error && 'errno' in failure && failure.errno === LOCK_WAIT_TIMEOUT;
}
