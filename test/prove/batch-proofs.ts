import { batchKills } from '../campaigns/batch-kills.js';

/** The long proof of batches: every row paid once, whatever is killed. */
export const BATCH_PROOFS: Readonly<Record<string, () => Promise<string[]>>> = {
  'batch-kills': async () => [await batchKills({ rows: 20_000, kills: 52, betweenMs: 3_000 })],
};
