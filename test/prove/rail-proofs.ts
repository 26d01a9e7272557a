import { hangingRail } from '../campaigns/hanging-rail.js';
import { railsCampaign } from '../campaigns/rails.js';
import type { TestDatabase } from '../support/database.js';
import { PrivateTemporal } from '../support/private-temporal.js';

/** The long proofs of rails: whatever goes wrong on the way, the rail's books and the ledger agree, and others are not delayed. */
export const RAIL_PROOFS: Readonly<Record<string, (db: TestDatabase) => Promise<string[]>>> = {
  rails: async (db) => {
    const server = await PrivateTemporal.start();
    const { temporal } = server;
    try {
      const held = { longestMs: 14_000, settlingMs: 120_000 };
      return [
        await railsCampaign({ db, temporal, payouts: 2_000, kills: 40, ...held, seed: Date.now() }),
      ];
    } finally {
      await server.remove();
    }
  },
  'hanging-rail': async (db) => {
    const server = await PrivateTemporal.start();
    const { temporal } = server;
    try {
      const counts = { payouts: 5_000, measured: 200, approvals: 200 };
      return [
        await hangingRail({
          db,
          temporal,
          ...counts,
          silence: 'hold',
          isTimed: true,
          worker: 'process',
        }),
      ];
    } finally {
      await server.remove();
    }
  },
};
