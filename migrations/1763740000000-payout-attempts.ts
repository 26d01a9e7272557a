import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Orders to rails as numbered attempts, rails that void, payouts that were paid after they had failed, and when each payout is
 * asked about again; the next migration fills them. What old processes write in the meantime stays possible: the new columns have defaults.
 */
const STATEMENTS = [
  `ALTER TABLE payouts
    ADD COLUMN attempts INT NOT NULL DEFAULT 0, ADD COLUMN attempted_at DATETIME(3) NULL,
    ADD COLUMN failed_at DATETIME(3) NULL, ADD COLUMN ask_at DATETIME(3) NULL,
    ADD KEY asking (rail, ask_at),
    ADD CONSTRAINT payouts_failed_before CHECK (failed_at IS NULL OR status IN ('completed','returned'))`,
  `ALTER TABLE payout_rail_events
    MODIFY COLUMN kind ENUM('submission','inquiry','callback','statement','resolution','void') NOT NULL,
    MODIFY COLUMN said ENUM('accepted','completed','failed','returned','unknown','voided') NULL,
    ADD COLUMN attempt INT NULL`,
  `ALTER TABLE simulated_rail_payments
    MODIFY COLUMN scenario VARCHAR(20) CHARACTER SET ascii COLLATE ascii_bin NULL,
    MODIFY COLUMN asset ENUM('COPM','DUSD') NULL, MODIFY COLUMN raw BIGINT NULL, ADD COLUMN voided_at DATETIME(3) NULL,
    ADD CONSTRAINT simulated_rail_payments_order CHECK
      (voided_at IS NOT NULL OR (scenario IS NOT NULL AND asset IS NOT NULL AND raw IS NOT NULL))`,
  `ALTER TABLE payout_resolutions ADD COLUMN payout_status VARCHAR(20) CHARACTER SET ascii COLLATE ascii_bin NULL`,
];

export class PayoutAttempts1763740000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await runner.query(statement);
  }

  down(): Promise<void> {
    throw new Error('a ledger only goes forward: restore a dump instead');
  }
}
