import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * One of the staff may be bound to an account at the company's identity provider, and a session that began there may have fewer
 * rights than they. (docs/contract.md, Staff)
 */
const STATEMENTS = [
  `ALTER TABLE staff
    ADD COLUMN subject_hash BINARY(32) NULL,
    ADD UNIQUE KEY subject_hash (subject_hash),
    ADD CONSTRAINT staff_subject CHECK (kind = 'person' OR subject_hash IS NULL)`,
  'ALTER TABLE staff_sessions ADD COLUMN rights VARCHAR(100) CHARACTER SET ascii COLLATE ascii_bin NULL',
];

export class StaffOfAProvider1763746710000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await runner.query(statement);
  }

  down(): Promise<void> {
    throw new Error('a ledger only goes forward: restore a dump instead');
  }
}
