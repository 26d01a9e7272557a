import { railsCampaign } from '../campaigns/rails.js';
import type { TestDatabase } from '../support/database.js';
import { PrivateTemporal } from '../support/private-temporal.js';

/** The long proof of rails: whatever goes wrong on the way, the rail's books and the ledger agree. */
export const RAIL_PROOFS: Readonly<Record<string, (db: TestDatabase) => Promise<string[]>>> = {
  rails: async (db) => {
    const server = await PrivateTemporal.start();
    const { temporal } = server;
    try {
      const held = { longestMs: 14_000, settlingMs: 120_000 };
      return [await railsCampaign({ db, temporal, payouts: 2_000, kills: 40, ...held, seed: Date.now() })];
    } finally {
      await server.remove();
    }
  },
};
