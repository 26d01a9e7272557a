import { hash } from 'node:crypto';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { z } from 'zod';
import { DUPLICATE_KEY, errnoOf } from './failures.js';

/**
 * A migration that was cut short goes on when it is run again. MySQL commits each change of a table by itself and undoes
 * none, so each is noted beforehand: one that was noted before may have taken effect, and then finds its own work.
 */

type Migration = new () => MigrationInterface;

/** Removed when all are done. */
export const NOTES = 'schema_migrations_begun';

const STATEMENTS = z.array(z.object({ statement: z.string() }));
/** What cannot simply be done again. */
const ONCE = /^\s*(CREATE|ALTER|INSERT)\s/i;
/** There already: a table, a column, a key, a CHECK (MariaDB, MySQL). Gone already: a key. */
const FOUND_DONE = new Set([1050, 1060, 1061, 1826, 3822, 1091]);

/** The same migration, under the same name. */
export function resumable(Own: Migration): Migration {
  return class implements MigrationInterface {
    readonly name = Own.name;

    async up(runner: QueryRunner): Promise<void> {
      const query = runner.query.bind(runner);
      await query(
        `CREATE TABLE IF NOT EXISTS ${NOTES} (migration VARCHAR(200) NOT NULL, statement CHAR(64) NOT NULL,
           PRIMARY KEY (migration, statement)) ENGINE=InnoDB DEFAULT CHARACTER SET ascii`,
      );
      const rows: unknown = await query(`SELECT statement FROM ${NOTES} WHERE migration='${this.name}'`);
      const noted = new Set(STATEMENTS.parse(rows).map(({ statement }) => statement));
      runner.query = async (...call: Parameters<QueryRunner['query']>) => {
        const [sql] = call;
        if (!ONCE.test(sql)) return query(...call);
        const id = hash('sha256', sql);
        if (noted.has(id)) return query(...call).catch(unlessDone(sql));
        await query(`INSERT INTO ${NOTES} (migration, statement) VALUES ('${this.name}', '${id}')`);
        try {
          return await query(...call);
        } catch (failure) {
          // Refused, it has had no effect; without an answer nobody knows.
          if ((errnoOf(failure) ?? 0) > 0)
            await query(`DELETE FROM ${NOTES} WHERE migration='${this.name}' AND statement='${id}'`).catch(() => null);
          throw failure;
        }
      };
      await new Own().up(runner).finally(() => (runner.query = query));
    }

    down(): Promise<void> {
      throw new Error('a ledger only goes forward: restore a dump instead');
    }
  };
}

function unlessDone(sql: string): (failure: unknown) => void {
  return (failure) => {
    const errno = errnoOf(failure) ?? 0;
    if (FOUND_DONE.has(errno) || (errno === DUPLICATE_KEY && /^\s*INSERT/i.test(sql))) return;
    throw failure;
  };
}
