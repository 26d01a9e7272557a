import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The audit that runs by itself: where it stands, and what it has found. (docs/operations.md, The audit that runs by itself) */
const ID = 'BINARY(16) NOT NULL';
const OPTIONS = 'ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin';

const STATEMENTS = [
  `CREATE TABLE IF NOT EXISTS audit_passes (
    id ${ID}, is_open TINYINT(1) NULL, began_at DATETIME(3) NOT NULL, ended_at DATETIME(3) NULL, fence INT NOT NULL,
    rows_checked BIGINT NOT NULL, PRIMARY KEY (id), UNIQUE KEY one_open (is_open), KEY ended (ended_at),
    CONSTRAINT audit_passes_open CHECK ((is_open IS NULL) = (ended_at IS NOT NULL))) ${OPTIONS}`,
  `CREATE TABLE IF NOT EXISTS audit_pieces (
    pass_id ${ID}, number INT NOT NULL, content MEDIUMBLOB NOT NULL, PRIMARY KEY (pass_id, number)) ${OPTIONS}`,
  `CREATE TABLE IF NOT EXISTS audit_findings (
    id ${ID}, check_name VARCHAR(60) CHARACTER SET ascii COLLATE ascii_bin NOT NULL, subject VARCHAR(255) NOT NULL,
    message VARCHAR(2000) NOT NULL, first_found_at DATETIME(3) NOT NULL, last_found_at DATETIME(3) NOT NULL,
    acknowledged_at DATETIME(3) NULL, acknowledged_by VARCHAR(140) NULL,
    PRIMARY KEY (id), KEY acknowledged (acknowledged_at, last_found_at),
    CONSTRAINT audit_findings_acknowledged CHECK ((acknowledged_at IS NULL) = (acknowledged_by IS NULL))) ${OPTIONS}`,
];

export class StandingAudit1763746851000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await runner.query(statement);
  }

  down(): Promise<void> {
    throw new Error('a ledger only goes forward: restore a dump instead');
  }
}
