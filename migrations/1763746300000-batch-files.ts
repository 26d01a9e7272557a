import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The files that a batch gives back, made once. Those of batches that are over by now are made by the sweeper. */
const STATEMENTS = [
  `CREATE TABLE IF NOT EXISTS bonus_batch_files (
    batch_id BINARY(16) NOT NULL, format ENUM('csv','xlsx') NOT NULL, number INT NOT NULL, content MEDIUMBLOB NOT NULL,
    PRIMARY KEY (batch_id, format, number)) ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`,
  `ALTER TABLE bonus_batch_storage ADD COLUMN files_run INT NOT NULL DEFAULT 0, ADD COLUMN csv_bytes INT NULL,
    ADD COLUMN xlsx_bytes INT NULL, ADD KEY unmade (rows_removed_at, csv_bytes, batch_id)`,
  'ALTER TABLE bonus_batches ADD COLUMN files_made_at DATETIME(3) NULL',
];

export class BatchFiles1763746300000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await runner.query(statement);
  }

  down(): Promise<void> {
    throw new Error('a ledger only goes forward: restore a dump instead');
  }
}
