import { mixedLoadCampaign } from '../campaigns/mixed-load.js';
import { testTemporal } from '../support/temporal.js';
import { ownDatabase } from '../webhooks/support.js';

describe('an API process and a worker under transfers, approvals, batches, payouts, webhooks and reads at once', () => {
  it('tell every client the truth and end everything once', async () => {
    const db = await ownDatabase('mixed_load');
    try {
      const load = {
        seconds: 4,
        clients: 2,
        pauseMs: 100,
        rows: 20,
        betweenBatchesMs: 500,
        isTimed: false,
      };
      await mixedLoadCampaign({ db, temporal: await testTemporal(), ...load });
    } finally {
      await db.remove();
    }
  });
});
