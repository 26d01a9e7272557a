import { ATTACKS } from '../campaigns/hostile/attacks/index.js';
import { hostileCampaign } from '../campaigns/hostile/campaign.js';
import type { TestDatabase } from '../support/database.js';

type Proofs = Readonly<Record<string, (db: TestDatabase) => Promise<string[]>>>;

/** Hostile tenants, with an honest one beside them. */
export const HOSTILE_PROOFS: Proofs = { hostile: (db) => hostileCampaign(db) };

/** Each attack by itself, for whoever mends what it shows: `hostile-batch-flood`. */
export const SINGLE_ATTACKS: Proofs = Object.fromEntries(
  ATTACKS.map((attack) => [
    `hostile-${attack.name.replaceAll(' ', '-')}`,
    (db: TestDatabase) => hostileCampaign(db, [attack]),
  ]),
);
