import { ATTACKS } from '../campaigns/hostile/attacks/index.js';
import { bombsCampaign } from '../campaigns/bombs.js';
import { brokenFileCampaign } from '../campaigns/broken-files.js';
import { hostileCampaign } from '../campaigns/hostile/campaign.js';
import type { TestDatabase } from '../support/database.js';

type Proofs = Readonly<Record<string, (db: TestDatabase) => Promise<string[]>>>;

/** Hostile tenants, with an honest one beside them, and what no tenant's program would ever send. */
export const HOSTILE_PROOFS: Proofs = {
  hostile: (db) => hostileCampaign(db),
  bombs: async () => [await bombsCampaign()],
  'broken-files': async (db) => [
    (await brokenFileCampaign(db, { seed: 15, files: 10_000, maxMs: 5_000 })).summary,
  ],
};

/** Each attack by itself, for whoever mends what it shows: `hostile-batch-flood`. */
export const SINGLE_ATTACKS: Proofs = Object.fromEntries(
  ATTACKS.map((attack) => [
    `hostile-${attack.name.replaceAll(' ', '-')}`,
    (db: TestDatabase) => hostileCampaign(db, [attack]),
  ]),
);
