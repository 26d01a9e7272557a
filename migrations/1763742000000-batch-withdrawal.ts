import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Why a batch that was accepted is rejected after all; why one is paused. Pausing is a right of its own: whoever of the staff
 * could pause before still can.
 */
const STATEMENTS = [
  `ALTER TABLE bonus_batches
    ADD COLUMN rejection_code VARCHAR(40) CHARACTER SET ascii COLLATE ascii_bin NULL,
    ADD COLUMN pause_reason VARCHAR(140) NULL,
    ADD CONSTRAINT bonus_batches_rejection CHECK (rejection_code IS NULL OR status = 'rejected')`,
  `UPDATE staff SET rights=CONCAT(rights, ',pause') WHERE FIND_IN_SET('pause', rights)=0`,
];

export class BatchWithdrawal1763742000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await runner.query(statement);
  }

  down(): Promise<void> {
    throw new Error('a ledger only goes forward: restore a dump instead');
  }
}
