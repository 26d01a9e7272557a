import { hash } from 'node:crypto';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { z } from 'zod';
import { DUPLICATE_KEY, errnoOf } from './failures.js';

/**
 * A migration that was cut short goes on when it is run again. MySQL commits each change of a table by itself and undoes
 * none; so what has begun is noted, and then its statements may find their own work.
 */

type Migration = new () => MigrationInterface;

/** Removed when all are done. */
export const NOTES = 'schema_migrations_begun';

const ROWS = z.array(z.object({ refused: z.string().nullable() }));
/** There already: a table, a column, a key, a CHECK (MariaDB, MySQL). Gone already: a key. */
const FOUND_DONE = new Set([1050, 1060, 1061, 1826, 3822, 1091]);
/** What a column that was renamed is under its old name. */
const NO_SUCH_COLUMN = 1054;

/** The same migration, under the same name. */
export function resumable(Own: Migration): Migration {
  return class implements MigrationInterface {
    readonly name = Own.name;

    async up(runner: QueryRunner): Promise<void> {
      const query = runner.query.bind(runner);
      const own = `migration='${this.name}'`;
      await query(
        `CREATE TABLE IF NOT EXISTS ${NOTES} (migration VARCHAR(200) NOT NULL PRIMARY KEY, refused CHAR(64) NULL)
         ENGINE=InnoDB DEFAULT CHARACTER SET ascii`,
      );
      const [begun] = ROWS.parse(await query(`SELECT refused FROM ${NOTES} WHERE ${own}`));
      if (begun === undefined) await query(`INSERT INTO ${NOTES} (migration) VALUES ('${this.name}')`);
      runner.query = async (...call: Parameters<QueryRunner['query']>) => {
        const id = hash('sha256', call[0]);
        const isRefused = begun?.refused === id;
        // From here on it may have taken effect.
        if (isRefused) await query(`UPDATE ${NOTES} SET refused=NULL WHERE ${own}`);
        try {
          return await query(...call);
        } catch (failure) {
          const errno = errnoOf(failure) ?? 0;
          if (begun !== undefined && !isRefused && isDone(errno, call[0])) return [];
          // What was refused had no effect, and what it met is not its own. Without an answer nobody knows.
          if (errno > 0) await query(`UPDATE ${NOTES} SET refused='${id}' WHERE ${own}`).catch(() => null);
          throw failure;
        }
      };
      await new Own().up(runner).finally(() => (runner.query = query));
    }

    down(runner: QueryRunner): Promise<void> {
      return new Own().down(runner);
    }
  };
}

function isDone(errno: number, sql: string): boolean {
  if (errno === NO_SUCH_COLUMN) return /RENAME COLUMN/i.test(sql);
  return FOUND_DONE.has(errno) || (errno === DUPLICATE_KEY && /^\s*INSERT/i.test(sql));
}
