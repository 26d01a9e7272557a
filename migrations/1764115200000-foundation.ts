import type { MigrationInterface, QueryRunner } from 'typeorm';
import { ACCESS } from './foundation/access.js';
import { LEDGER } from './foundation/ledger.js';
import { PAYMENTS } from './foundation/payments.js';

/** Operators can add to these with `aliases reserve`. */
const RESERVED_ALIASES = ['$admin', '$soporte', '$support', '$banco', '$sistema'];

/**
 * The schema of release 1.0.0. Tables that a posting writes have no foreign keys, because inserting a
 * child row locks its parent row, and updates of shared counters would then deadlock. The auditor
 * checks these references. MySQL commits each statement by itself, so each may run twice.
 */
export class Foundation1764115200000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const table of [...ACCESS, ...LEDGER, ...PAYMENTS])
      await runner.query(table.replace('CREATE TABLE', 'CREATE TABLE IF NOT EXISTS'));
    const aliases = RESERVED_ALIASES.map((alias) => `('${alias}', 'migration', UTC_TIMESTAMP(3))`);
    await runner.query(
      `INSERT IGNORE INTO reserved_aliases (alias, reserved_by, created_at) VALUES ${aliases.join(', ')}`,
    );
  }

  down(): Promise<void> {
    throw new Error('The schema only moves forward. Restore a backup instead.');
  }
}
