import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Whom each tenant knows, how many others it may still look for by alias or phone, and with which token a batch was uploaded. Whom a
 * tenant has paid is known from the beginning.
 */
const OPTIONS = 'ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin';

const STATEMENTS = [
  // The service goes on: what is only read here is not locked.
  'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED',
  `CREATE TABLE IF NOT EXISTS known_recipients (
    tenant_id BINARY(16) NOT NULL, account_id BINARY(16) NOT NULL, PRIMARY KEY (tenant_id, account_id)) ${OPTIONS}`,
  `INSERT IGNORE INTO known_recipients (tenant_id, account_id)
    SELECT DISTINCT tenant_id, recipient_account_id FROM bonuses`,
  `INSERT IGNORE INTO known_recipients (tenant_id, account_id)
    SELECT DISTINCT tenant_id, destination_account_id FROM transfers WHERE status='completed'`,
  `CREATE TABLE IF NOT EXISTS recipient_budgets (
    name VARCHAR(60) CHARACTER SET ascii COLLATE ascii_bin NOT NULL, full_at DATETIME(3) NOT NULL,
    PRIMARY KEY (name)) ${OPTIONS}`,
  `ALTER TABLE bonus_batches ADD COLUMN token_key_id VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NULL`,
];

export class RecipientBudgets1763744100000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await runner.query(statement);
  }

  down(): Promise<void> {
    throw new Error('a ledger only goes forward: restore a dump instead');
  }
}
