import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Statements of accounts, their files, and what of them a tenant may have. (docs/contract.md, Statements) */
const ID = 'BINARY(16) NOT NULL';
const TIME = 'DATETIME(3)';
const OPTIONS = 'ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin';

const STATEMENTS = [
  `CREATE TABLE IF NOT EXISTS statements (
    id ${ID}, tenant_id ${ID}, account_id ${ID}, asset ENUM('COPM','DUSD') NOT NULL,
    from_at ${TIME} NOT NULL, to_at ${TIME} NOT NULL, opening_raw BIGINT NOT NULL, closing_raw BIGINT NOT NULL,
    entry_count INT NOT NULL, status ENUM('preparing','ready','expired') NOT NULL, created_by ${ID}, created_at ${TIME} NOT NULL,
    files_run INT NOT NULL, lease_until ${TIME} NULL, made_at ${TIME} NULL, movement_count INT NULL,
    csv_bytes INT NULL, xlsx_bytes INT NULL,
    PRIMARY KEY (id), KEY tenant (tenant_id, created_at, id), KEY account (account_id, created_at, id), KEY status (status, id), KEY leased (status, lease_until),
    KEY tenant_status (tenant_id, status, entry_count),
    CONSTRAINT statements_period CHECK (from_at <= to_at)) ${OPTIONS}`,
  `CREATE TABLE IF NOT EXISTS statement_files (
    statement_id ${ID}, format ENUM('csv','xlsx') NOT NULL, number INT NOT NULL, content MEDIUMBLOB NOT NULL,
    PRIMARY KEY (statement_id, format, number)) ${OPTIONS}`,
  'ALTER TABLE tenant_quotas ADD COLUMN statement_rows BIGINT NULL',
  `ALTER TABLE idempotency_keys MODIFY resource_type
    ENUM('transfer','bonus','payout','payin','adjustment','bonus_batch','webhook_endpoint','statement') NOT NULL`,
];

export class Statements1763746800000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await runner.query(statement);
  }

  down(): Promise<void> {
    throw new Error('a ledger only goes forward: restore a dump instead');
  }
}
