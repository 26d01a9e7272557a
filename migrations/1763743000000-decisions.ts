import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Which transaction bound a key, so that one whose COMMIT went unanswered knows its own work from another's. Nobody searches by
 * it, so it has no index; keys from before have none. Added last, which neither MySQL nor MariaDB rebuilds the table for.
 */
const STATEMENTS = ['ALTER TABLE idempotency_keys ADD COLUMN commit_id BINARY(8) NULL'];

export class Decisions1763743000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await runner.query(statement);
  }

  down(): Promise<void> {
    throw new Error('a ledger only goes forward: restore a dump instead');
  }
}
