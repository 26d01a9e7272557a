import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Which worker process looks for what is due; and an outbox whose entries are shared out, and end as dead letters. (docs/decisions/0039-each-due-thing-is-looked-for-once.md) */
const TIME = 'DATETIME(3)';
const OPTIONS = 'ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin';

const STATEMENTS = [
  `CREATE TABLE IF NOT EXISTS sweep_leases (
    name VARCHAR(100) NOT NULL, holder BINARY(16) NULL, taken_at ${TIME} NOT NULL, lease_until ${TIME} NOT NULL,
    PRIMARY KEY (name)) ${OPTIONS}`,
  `CREATE TABLE IF NOT EXISTS sweep_workers (
    id BINARY(16) NOT NULL, label VARCHAR(200) NOT NULL, started_at ${TIME} NOT NULL, seen_until ${TIME} NOT NULL,
    PRIMARY KEY (id)) ${OPTIONS}`,
  `CREATE TABLE IF NOT EXISTS sweep_passes (
    name VARCHAR(100) NOT NULL, began_at ${TIME} NOT NULL, at_type VARCHAR(40) NULL, after_id BINARY(16) NULL,
    found INT NOT NULL, found_before INT NULL,
    PRIMARY KEY (name)) ${OPTIONS}`,
  // What an older process writes is of the first part, whatever it is about: it is found all the same.
  `ALTER TABLE outbox ADD COLUMN shard TINYINT NOT NULL DEFAULT 0, ADD COLUMN dead_at ${TIME} NULL,
    ADD KEY due_of_shard (shard, due_at, id)`,
];

export class SharedSweeps1763746840000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await runner.query(statement);
  }

  down(): Promise<void> {
    throw new Error('a ledger only goes forward: restore a dump instead');
  }
}
