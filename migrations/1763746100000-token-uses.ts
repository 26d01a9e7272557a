import type { MigrationInterface, QueryRunner } from 'typeorm';

/** When each token was last used, about. */
export class TokenUses1763746100000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE tokens ADD COLUMN last_used_at DATETIME(3) NULL');
  }

  down(): Promise<void> {
    throw new Error('a ledger only goes forward: restore a dump instead');
  }
}
