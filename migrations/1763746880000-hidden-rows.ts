import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The hidden rows of a batch's file, and the hidden sheets before the sheet that was read. */
const STATEMENTS = [
  `ALTER TABLE bonus_batches
    ADD COLUMN hidden_rows INT NOT NULL DEFAULT 0,
    ADD COLUMN skipped_sheets INT NOT NULL DEFAULT 0`,
];

export class HiddenRows1763746880000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await runner.query(statement);
  }

  down(): Promise<void> {
    throw new Error('a ledger only goes forward: restore a dump instead');
  }
}
