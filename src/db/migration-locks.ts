import { hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource, QueryRunner } from 'typeorm';
import { z } from 'zod';

/** What migrations wait for: one another, and statements that use the tables. (docs/operations.md, Upgrade) */

/** For how long a second process waits until the first is done. */
const TURN_S = 900;
/** What waited for a table's lock had others wait behind it: they go first, then it is tried again. */
const BREATH_MS = 1_000;
/** ER_LOCK_WAIT_TIMEOUT: nothing of the statement has happened. */
const LOCK_WAIT_TIMEOUT = 1205;

/** Another process migrates the same database, and did not come to its end in time. */
export class MigrationUnderWay extends Error {
  override name = 'MigrationUnderWay';
}

/**
 * Takes the lock of the database's migrations for the one connection of `source`: whoever loses that connection has lost the lock,
 * and can do nothing more. Waits for another who has it. Throws MigrationUnderWay.
 */
export async function takeTurn(source: DataSource, database: string, turnS = TURN_S): Promise<void> {
  // The name of a lock is 64 characters at most, and a database's may be as long.
  const name = hash('sha256', `migrations of ${database}`).slice(0, 40);
  const rows: unknown = await source.query(`SELECT GET_LOCK('${name}', ${turnS}) AS got`);
  if (z.array(z.object({ got: z.coerce.number() })).parse(rows)[0]?.got === 1) return;
  throw new MigrationUnderWay(`another process migrates ${database}, and was not done after ${turnS} s`);
}

/**
 * No statement of a migration waits for a table longer than `lockWaitS`: as long as it waits, everybody else who wants the table waits
 * behind it. It is tried until it has the table, since what a migration did before it cannot be undone. `onWait` hears of each try.
 */
export async function limitLockWaits(
  source: DataSource,
  lockWaitS: number,
  onWait: (statement: string) => void,
): Promise<void> {
  await source.query(`SET SESSION lock_wait_timeout=${lockWaitS}, SESSION innodb_lock_wait_timeout=${lockWaitS}`);
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
