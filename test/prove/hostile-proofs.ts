import { hostileCampaign } from '../campaigns/hostile/campaign.js';
import type { TestDatabase } from '../support/database.js';

/** Hostile tenants, with an honest one beside them. */
export const HOSTILE_PROOFS: Readonly<Record<string, (db: TestDatabase) => Promise<string[]>>> = {
  hostile: (db) => hostileCampaign(db),
};
