import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Orders to rails as numbered attempts, rails that void, payouts that were paid after they had failed, and when each payout is
 * asked about again. What old processes write in the meantime stays possible: the new columns have defaults.
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
  // What was handed over before is counted by what was written of it.
  `UPDATE payouts p JOIN (
      SELECT payout_id, COUNT(*) AS attempts, MAX(at) AS attempted_at FROM payout_rail_events
      WHERE effect='sent' AND payout_id IS NOT NULL GROUP BY payout_id) sent ON sent.payout_id=p.id
    SET p.attempts=sent.attempts, p.attempted_at=sent.attempted_at`,
  // What was completed within the usual window is asked about, spread over an hour.
  `UPDATE payouts SET ask_at=UTC_TIMESTAMP(3) + INTERVAL FLOOR(RAND() * 3600) SECOND
    WHERE status='completed' AND ended_at > UTC_TIMESTAMP(3) - INTERVAL 60 DAY`,
  // Contradictions that were filed as duplicates until now.
  `UPDATE payouts p JOIN (
      SELECT DISTINCT e.payout_id FROM payout_rail_events e JOIN payouts own ON own.id=e.payout_id
      WHERE e.effect IN ('noted','applied','duplicate')
        AND ((own.status='failed' AND e.said='accepted' AND e.effect='duplicate') OR e.rail_reference<>own.rail_reference)
        AND NOT EXISTS (SELECT 1 FROM payout_resolutions r
          WHERE r.payout_id=e.payout_id AND r.status='applied' AND r.decided_at>=e.at)) said ON said.payout_id=p.id
    SET p.stuck_since=UTC_TIMESTAMP(3), p.stuck_reason='contradiction' WHERE p.stuck_since IS NULL`,
  `UPDATE payouts SET ask_at=UTC_TIMESTAMP(3) WHERE stuck_since IS NOT NULL AND ended_at IS NOT NULL`,
];

export class PayoutAttempts1763740000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await runner.query(statement);
  }

  down(): Promise<void> {
    throw new Error('a ledger only goes forward: restore a dump instead');
  }
}
