import { clientCampaign } from '../campaigns/client.js';
import type { TestDatabase } from '../support/database.js';

/** The long proof of the typed client: what it says is true, whatever breaks under it. */
export const CLIENT_PROOFS: Readonly<Record<string, (db: TestDatabase) => Promise<string[]>>> = {
  client: async (db) => [
    await clientCampaign({
      db,
      transfers: 10_000,
      width: 32,
      cutsPerThousand: 40,
      seed: Date.now() % 2 ** 31,
    }),
  ],
};
