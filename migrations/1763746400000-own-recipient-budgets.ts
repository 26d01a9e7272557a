import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * A recipient budget of a tenant's own; up to which row of a file its names are paid for; and what is stored of batches that an API
 * of before took in.
 */
const STATEMENTS = [
  // The service goes on: what is only read here is not locked.
  'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED',
  'ALTER TABLE tenant_quotas ADD COLUMN new_recipients BIGINT NULL CHECK (new_recipients > 0)',
  'ALTER TABLE bonus_batch_storage ADD COLUMN charged_row INT NOT NULL DEFAULT 0',
  `INSERT IGNORE INTO bonus_batch_storage (batch_id, tenant_id, file_bytes, problem_rows, rows_removed_at)
   SELECT b.id, b.tenant_id,
     IF(EXISTS (SELECT 1 FROM upload_chunks c WHERE c.batch_id=b.id AND c.number=0), b.file_bytes, 0),
     (SELECT COUNT(*) FROM bonus_batch_problems p WHERE p.batch_id=b.id), NULL
   FROM bonus_batches b LEFT JOIN bonus_batch_storage s ON s.batch_id=b.id
   WHERE s.batch_id IS NULL`,
];

export class OwnRecipientBudgets1763746400000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await runner.query(statement);
  }

  down(): Promise<void> {
    throw new Error('a ledger only goes forward: restore a dump instead');
  }
}
