import type { MigrationInterface, QueryRunner } from 'typeorm';
import { FILL_EXPIRIES } from './1763746500000-expiries-of-holds.js';

/**
 * A transfer writes 12 entries into indexes where it wrote 25: a bound in time is found by looking at a few rows by their
 * number, a list without a status merges those of each status, and the auditor compares what it walks through anyway.
 * (docs/decisions/0025-half-the-indexes.md)
 *
 * Dropping an index changes the dictionary alone, on MySQL and MariaDB, however large the table is.
 */
const STATEMENTS = [
  'ALTER TABLE entries DROP KEY kind, DROP KEY asset, DROP KEY created, DROP KEY transaction, ALGORITHM=INPLACE, LOCK=NONE',
  'ALTER TABLE ledger_transactions DROP KEY related, ALGORITHM=INPLACE, LOCK=NONE',
  'ALTER TABLE transfers DROP KEY tenant, DROP KEY expiring, ALGORITHM=INPLACE, LOCK=NONE',
  'ALTER TABLE payouts DROP KEY tenant, ALGORITHM=INPLACE, LOCK=NONE',
  'ALTER TABLE bonus_batches DROP KEY tenant, ALGORITHM=INPLACE, LOCK=NONE',
  'ALTER TABLE events DROP KEY created, DROP KEY resource, ALGORITHM=INPLACE, LOCK=NONE',
];

export class FewerIndexes1763746510000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [FILL_EXPIRIES, ...STATEMENTS]) await runner.query(statement);
  }

  down(): Promise<void> {
    throw new Error('a ledger only goes forward: restore a dump instead');
  }
}
