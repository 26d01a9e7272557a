import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Whether each rail answers, known to every worker. (docs/decisions/0038-rails-apart.md) */
const STATEMENTS = [
  `CREATE TABLE IF NOT EXISTS rail_breakers (
    rail VARCHAR(40) NOT NULL, state ENUM('closed','open','half_open') NOT NULL, since DATETIME(3) NOT NULL,
    failures INT NOT NULL, last_payout_id BINARY(16) NULL, last_failure VARCHAR(200) CHARACTER SET utf8mb4 NULL,
    last_failure_at DATETIME(3) NULL, probes INT NOT NULL, probe_at DATETIME(3) NULL, wake_at DATETIME(3) NULL,
    PRIMARY KEY (rail)) ENGINE=InnoDB DEFAULT CHARACTER SET ascii COLLATE ascii_bin`,
];

export class RailBreakers1763746830000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await runner.query(statement);
  }

  down(): Promise<void> {
    throw new Error('a ledger only goes forward: restore a dump instead');
  }
}
