import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What waits for approval is found by its hold, of which there are few, and no longer by an index over all transfers. Added last,
 * which neither MySQL nor MariaDB rebuilds the table for; holds are few, so the index is built in moments.
 */
const STATEMENTS = [
  'ALTER TABLE holds ADD COLUMN expires_at DATETIME(3) NULL',
  'ALTER TABLE holds ADD KEY expiring (resource_type, expires_at)',
];

/** Of transfers that wait: of those that processes of the version before made, too. */
export const FILL_EXPIRIES = `UPDATE holds h JOIN transfers t ON t.id=h.resource_id SET h.expires_at=t.approval_expires_at
  WHERE h.resource_type='transfer' AND h.remaining>0 AND h.expires_at IS NULL`;

export class ExpiriesOfHolds1763746500000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [...STATEMENTS, FILL_EXPIRIES]) await runner.query(statement);
  }

  down(): Promise<void> {
    throw new Error('a ledger only goes forward: restore a dump instead');
  }
}
