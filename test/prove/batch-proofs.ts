import { batchCuts } from '../campaigns/batch-cuts.js';
import { batchKills } from '../campaigns/batch-kills.js';
import type { TestDatabase } from '../support/database.js';

/** The long proofs of batches: every row paid once, whatever is killed or cut. */
export const BATCH_PROOFS: Readonly<Record<string, (db: TestDatabase) => Promise<string[]>>> = {
  'batch-cuts': async (db) => [await batchCuts({ db, rows: 20_000, every: 25, settled: 1_500 })],
  'batch-kills': async () => [await batchKills({ rows: 20_000, kills: 52, betweenMs: 3_000 })],
};
