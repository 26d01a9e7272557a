import { railsCampaign } from '../campaigns/rails.js';
import { testDatabase } from '../support/database.js';
import { testTemporal } from '../support/temporal.js';

describe('a rail that loses, delays, repeats, reorders and contradicts', () => {
  it('a rail that loses, delays, repeats, reorders and contradicts agrees with the ledger except for what is raised, whatever operators decide, statements say, and however the worker dies', async () => {
    const [db, temporal] = [await testDatabase(), await testTemporal()];
    await railsCampaign({
      db,
      temporal,
      payouts: 60,
      kills: 2,
      longestMs: 4_000,
      settlingMs: 6_000,
      seed: 12,
    });
  });
});
