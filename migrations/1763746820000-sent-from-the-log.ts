import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Webhooks are sent from the log by the workers themselves: they find tenants with news by the time of their last event. What an endpoint's
 * workflow waits for stands beside it, and it is told by the outbox. (docs/decisions/0037-sent-from-the-log.md)
 */
const STATEMENTS = [
  `ALTER TABLE webhook_endpoints ADD COLUMN waits_until DATETIME(3) NULL, ADD COLUMN attended_at DATETIME(3) NULL`,
  `ALTER TABLE event_counters ADD KEY recent (last_at, last_sequence)`,
  `ALTER TABLE outbox MODIFY resource_type ENUM('transfer','payout','bonus_batch','webhook_endpoint') NOT NULL`,
];

export class SentFromTheLog1763746820000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await runner.query(statement);
  }

  down(): Promise<void> {
    throw new Error('a ledger only goes forward: restore a dump instead');
  }
}
