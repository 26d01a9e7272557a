import type { MigrationInterface, QueryRunner } from 'typeorm';

/** How many rows are kept of each batch that have paid nobody, and how many a tenant may have. Both tables are small. */
const STATEMENTS = [
  // The service goes on: what is only read here is not locked.
  'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED',
  'ALTER TABLE tenant_quotas ADD COLUMN unpaid_rows BIGINT NULL',
  `ALTER TABLE bonus_batch_storage ADD COLUMN unpaid_rows INT NOT NULL DEFAULT 0,
    ADD KEY tenant_stored (tenant_id, file_bytes, problem_rows, unpaid_rows), DROP KEY tenant`,
  `UPDATE bonus_batch_storage s JOIN bonus_batches b ON b.id=s.batch_id
   SET s.unpaid_rows=IF(b.status='partially_failed', b.rows_failed, b.row_count)
   WHERE s.rows_removed_at IS NULL AND (b.status IN ('ready','executing','partially_failed') OR b.rejection_code IS NOT NULL)`,
];

export class UnpaidRows1763746870000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await runner.query(statement);
  }

  down(): Promise<void> {
    throw new Error('a ledger only goes forward: restore a dump instead');
  }
}
