import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Where the trace of what waits goes on. Null while nobody traces: then no row is longer for it, and no index has it.
 * (docs/decisions/0040-one-trace.md)
 */
const TRACEPARENT = 'traceparent CHAR(55) CHARACTER SET ascii COLLATE ascii_bin NULL';

export class Traces1763746850000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const table of ['outbox', 'events'])
      if (!(await hasColumn(runner, table)))
        await runner.query(`ALTER TABLE ${table} ADD COLUMN ${TRACEPARENT}, ALGORITHM=INSTANT`);
  }

  down(): Promise<void> {
    throw new Error('a ledger only goes forward: restore a dump instead');
  }
}

async function hasColumn(runner: QueryRunner, table: string): Promise<boolean> {
  const found: unknown[] = await runner.query(
    `SELECT 1 FROM information_schema.columns
     WHERE table_schema=DATABASE() AND table_name='${table}' AND column_name='traceparent'`,
  );
  return found.length > 0;
}
