import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What a tenant may have stored, and what of each batch is; with that of the batches that there are. */
const ID = 'BINARY(16) NOT NULL';
const COUNT = 'INT NOT NULL';
const OPTIONS = 'ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin';

const STATEMENTS = [
  // The service goes on: what is only read here is not locked.
  'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED',
  `CREATE TABLE IF NOT EXISTS tenant_quotas (
    tenant_id ${ID}, open_batches BIGINT NULL, problem_rows BIGINT NULL, stored_bytes BIGINT NULL,
    PRIMARY KEY (tenant_id),
    CONSTRAINT tenant_quotas_counts CHECK (open_batches >= 0 AND problem_rows >= 0 AND stored_bytes >= 0)) ${OPTIONS}`,
  `CREATE TABLE IF NOT EXISTS bonus_batch_storage (
    batch_id ${ID}, tenant_id ${ID}, file_bytes ${COUNT}, problem_rows ${COUNT}, rows_removed_at DATETIME(3) NULL,
    PRIMARY KEY (batch_id), KEY tenant (tenant_id, file_bytes, problem_rows), KEY kept (rows_removed_at, batch_id),
    CONSTRAINT bonus_batch_storage_counts CHECK (file_bytes >= 0 AND problem_rows >= 0)) ${OPTIONS}`,
  `INSERT IGNORE INTO bonus_batch_storage (batch_id, tenant_id, file_bytes, problem_rows, rows_removed_at)
   SELECT b.id, b.tenant_id,
     IF(EXISTS (SELECT 1 FROM upload_chunks c WHERE c.batch_id=b.id AND c.number=0), b.file_bytes, 0),
     (SELECT COUNT(*) FROM bonus_batch_problems p WHERE p.batch_id=b.id), NULL
   FROM bonus_batches b`,
  // Retention looks for the oldest.
  'CREATE INDEX at ON payout_rail_events (at)',
];

export class Quotas1763745000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await runner.query(statement);
  }

  down(): Promise<void> {
    throw new Error('a ledger only goes forward: restore a dump instead');
  }
}
