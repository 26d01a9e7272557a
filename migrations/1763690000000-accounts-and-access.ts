import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Reserved and released aliases, verification data, limits of single accounts, and the audit log of privileged acts. */
const ID = 'BINARY(16) NOT NULL';
const TIME = 'DATETIME(3) NOT NULL';
const OPTIONS = 'ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin';
const ascii = (length: number): string => `VARCHAR(${length}) CHARACTER SET ascii COLLATE ascii_bin`;

/** From the start; operators add to them. */
const RESERVED = ['$admin', '$soporte', '$support', '$banco', '$sistema'];

const STATEMENTS = [
  `CREATE TABLE reserved_aliases (
    alias ${ascii(32)} NOT NULL, reserved_by VARCHAR(80) NOT NULL, created_at ${TIME}, PRIMARY KEY (alias)) ${OPTIONS}`,
  `INSERT INTO reserved_aliases (alias, reserved_by, created_at) VALUES
    ${RESERVED.map((alias) => `('${alias}','migration',UTC_TIMESTAMP(3))`).join(',')}`,
  `CREATE TABLE released_aliases (
    tenant_id ${ID}, alias ${ascii(32)} NOT NULL, account_id ${ID}, released_at ${TIME},
    PRIMARY KEY (tenant_id, alias)) ${OPTIONS}`,
  `CREATE TABLE verifications (
    account_id ${ID}, legal_name VARCHAR(120) NOT NULL, document_type ENUM('CC','CE','NIT','PASS','PEP') NOT NULL,
    document_number VARBINARY(200) NOT NULL, document_key_id ${ascii(32)} NOT NULL, document_last4 ${ascii(4)} NOT NULL,
    country CHAR(2) CHARACTER SET ascii COLLATE ascii_bin NOT NULL, declared_at ${TIME}, updated_at ${TIME},
    PRIMARY KEY (account_id), KEY document_key (document_key_id, account_id)) ${OPTIONS}`,
  `CREATE TABLE account_limits (
    account_id ${ID}, asset ENUM('COPM','DUSD') NOT NULL, minimum BIGINT NULL, maximum BIGINT NULL, month BIGINT NULL,
    PRIMARY KEY (account_id, asset),
    CONSTRAINT account_limits_signs CHECK (COALESCE(minimum, 0) >= 0 AND COALESCE(maximum, 0) >= 0 AND
      COALESCE(month, 0) >= 0)) ${OPTIONS}`,
  `CREATE TABLE audit_log (
    id ${ID}, tenant_id BINARY(16) NULL, at ${TIME}, channel ENUM('api','ops','temporal') NOT NULL,
    actor VARCHAR(120) NOT NULL, action ${ascii(60)} NOT NULL, subject_type ${ascii(40)} NOT NULL,
    subject_id VARCHAR(120) NOT NULL, details TEXT NOT NULL,
    PRIMARY KEY (id), KEY tenant (tenant_id, id), KEY subject (subject_id, id)) ${OPTIONS}`,
];

export class AccountsAndAccess1763690000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await runner.query(statement);
  }

  down(): Promise<void> {
    throw new Error('a ledger only goes forward: restore a dump instead');
  }
}
