import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What lowers an approval policy waits for the tenant's delay: until then the row has the policy that is in force and the one that
 * comes. Processes of before know of none that comes: set a delay when all are of this version. (docs/operations.md, Upgrade)
 */
const STATEMENTS = [
  'ALTER TABLE tenants ADD COLUMN policy_delay_s INT NOT NULL DEFAULT 0',
  `ALTER TABLE approval_policies
    ADD COLUMN next_threshold BIGINT NULL,
    ADD COLUMN next_approvals TINYINT NULL,
    ADD COLUMN next_expires_in_s INT NULL,
    ADD COLUMN effective_at DATETIME(3) NULL,
    ADD COLUMN requested_channel ENUM('api','ops','temporal','support') CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
    ADD COLUMN requested_by VARCHAR(120) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
    ADD KEY effective_at (effective_at),
    ADD CONSTRAINT approval_policies_next CHECK (
      (next_threshold IS NULL) = (next_approvals IS NULL) AND (next_threshold IS NULL) = (next_expires_in_s IS NULL)
      AND (next_threshold IS NULL OR effective_at IS NOT NULL)),
    ADD CONSTRAINT approval_policies_request CHECK (
      (effective_at IS NULL) = (requested_by IS NULL) AND (effective_at IS NULL) = (requested_channel IS NULL))`,
];

export class PolicyDelay1763746700000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await runner.query(statement);
  }

  down(): Promise<void> {
    throw new Error('a ledger only goes forward: restore a dump instead');
  }
}
