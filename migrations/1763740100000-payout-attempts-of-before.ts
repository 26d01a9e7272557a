import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What the columns of the migration before say of payouts that were there already. Each statement may run again. */
const STATEMENTS = [
  // The service goes on: what is only read here is not locked.
  'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED',
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
  `UPDATE payout_resolutions r JOIN payouts p ON p.id=r.payout_id SET r.payout_status=p.status WHERE r.status='proposed'`,
];

export class PayoutAttemptsOfBefore1763740100000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await runner.query(statement);
  }

  down(): Promise<void> {
    throw new Error('a ledger only goes forward: restore a dump instead');
  }
}
