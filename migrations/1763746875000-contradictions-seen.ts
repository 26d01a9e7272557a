import type { MigrationInterface, QueryRunner } from 'typeorm';

/** How many contradictions of the rail whoever proposed a resolution could see. The table is small. */
const STATEMENTS = ['ALTER TABLE payout_resolutions ADD COLUMN contradictions INT NULL'];

export class ContradictionsSeen1763746875000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await runner.query(statement);
  }

  down(): Promise<void> {
    throw new Error('a ledger only goes forward: restore a dump instead');
  }
}
