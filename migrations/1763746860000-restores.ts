import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Restores of the database: while one is open nothing is posted; the gaps that they leave in tenants' logs; and what they found that
 * contradicts the outside. (docs/operations.md, Backup and restore)
 */
const ID = 'BINARY(16) NOT NULL';
const TIME = 'DATETIME(3)';
const OPTIONS = 'ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin';

const STATEMENTS = [
  `CREATE TABLE IF NOT EXISTS restores (
    id ${ID}, noticed_by ENUM('operator','copy','migration','worker') NOT NULL, reason VARCHAR(140) NOT NULL,
    began_at ${TIME} NOT NULL, began_by VARCHAR(80) NULL, began_by_id BINARY(16) NULL,
    restored_to ${TIME} NULL, lost_until ${TIME} NULL, skip BIGINT NULL,
    moved_at ${TIME} NULL, rebuilt_at ${TIME} NULL, asked_at ${TIME} NULL, audited_at ${TIME} NULL,
    finished_at ${TIME} NULL, finished_by VARCHAR(80) NULL, finished_by_id BINARY(16) NULL, told_at ${TIME} NULL,
    PRIMARY KEY (id), KEY finished (finished_at), KEY told (told_at)) ${OPTIONS}`,
  `CREATE TABLE IF NOT EXISTS event_gaps (
    tenant_id ${ID}, after_sequence BIGINT NOT NULL, through_sequence BIGINT NOT NULL, restore_id ${ID},
    restored_to ${TIME} NOT NULL, announced_at ${TIME} NOT NULL,
    PRIMARY KEY (tenant_id, after_sequence), UNIQUE KEY restore_tenant (restore_id, tenant_id),
    CONSTRAINT event_gaps_range CHECK (after_sequence < through_sequence)) ${OPTIONS}`,
  `CREATE TABLE IF NOT EXISTS restore_findings (
    restore_id ${ID}, kind ENUM('unknown_here','approval_lost','amount','not_paid_there','goes_on') NOT NULL,
    rail VARCHAR(64) NOT NULL, payout_id ${ID}, here VARCHAR(40) NOT NULL, there VARCHAR(200) NOT NULL, found_at ${TIME} NOT NULL,
    PRIMARY KEY (restore_id, kind, rail, payout_id)) ${OPTIONS}`,
  'ALTER TABLE event_counters ADD COLUMN restores INT NOT NULL DEFAULT 0',
];

export class Restores1763746860000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await runner.query(statement);
  }

  down(): Promise<void> {
    throw new Error('a ledger only goes forward: restore a dump instead');
  }
}
