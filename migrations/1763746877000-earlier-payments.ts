import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Finds what was paid under a reference. The index is on the rows of batches, which are written at validation, and not
 * on bonuses, which are written while paying. Neither of its columns ever changes, so payment does not touch it. A
 * single bonus has no such row: one with a reference gets a row in a table of its own.
 */
const STATEMENTS = [
  `ALTER TABLE bonus_batch_rows ADD KEY reference (reference, recipient_account_id), ALGORITHM=INPLACE, LOCK=NONE`,
  `CREATE TABLE bonus_references (
    id BINARY(16) NOT NULL, tenant_id BINARY(16) NOT NULL, recipient_account_id BINARY(16) NOT NULL,
    reference VARCHAR(64) NOT NULL, created_at DATETIME(3) NOT NULL,
    PRIMARY KEY (reference, recipient_account_id, id))
    ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`,
  `INSERT INTO bonus_references (id, tenant_id, recipient_account_id, reference, created_at)
    SELECT id, tenant_id, recipient_account_id, reference, created_at FROM bonuses FORCE INDEX (batch)
    WHERE batch_id IS NULL AND reference IS NOT NULL`,
];

export class EarlierPayments1763746877000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await runner.query(statement);
  }

  down(): Promise<void> {
    throw new Error('a ledger only goes forward: restore a dump instead');
  }
}
