import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What rails' own statements said, day by day: each version of a day that was taken, and its lines. */
const ID = 'BINARY(16) NOT NULL';
const TIME = 'DATETIME(3) NOT NULL';
const OPTIONS = 'ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin';
const ascii = (length: number): string => `VARCHAR(${length}) CHARACTER SET ascii COLLATE ascii_bin`;

const STATEMENTS = [
  // A corrected statement is a version more: what an earlier one said stays, and counts no longer.
  `CREATE TABLE payout_statements (
    id ${ID}, rail ${ascii(40)} NOT NULL, day DATE NOT NULL, version INT NOT NULL, line_count INT NOT NULL,
    digest BINARY(32) NOT NULL, taken_at ${TIME}, taken_by VARCHAR(80) NOT NULL, seen_at ${TIME},
    PRIMARY KEY (id), UNIQUE KEY version (rail, day, version)) ${OPTIONS}`,
  // Without a key over the payment: that a rail paid twice must be possible to see.
  `CREATE TABLE payout_statement_lines (
    statement_id ${ID}, number INT NOT NULL, rail ${ascii(40)} NOT NULL, payout_key ${ID},
    status ENUM('completed','failed','returned') NOT NULL, raw BIGINT NOT NULL, asset ENUM('COPM','DUSD') NOT NULL,
    reference ${ascii(64)} NULL, at DATETIME(3) NULL,
    PRIMARY KEY (statement_id, number), KEY payment (rail, payout_key)) ${OPTIONS}`,
];

export class RailStatements1763741000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await runner.query(statement);
  }

  down(): Promise<void> {
    throw new Error('a ledger only goes forward: restore a dump instead');
  }
}
