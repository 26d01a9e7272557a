import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Adds the option of an approval policy that rejects batches. The table has at most one row for each account and asset. */
const STATEMENTS = [
  `ALTER TABLE approval_policies
    ADD COLUMN refuses_batches TINYINT(1) NOT NULL DEFAULT 0,
    ADD COLUMN next_refuses_batches TINYINT(1) NULL`,
];

export class RefusedBatches1763746876000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await runner.query(statement);
  }

  down(): Promise<void> {
    throw new Error('a ledger only goes forward: restore a dump instead');
  }
}
