import { clientCampaign } from '../campaigns/client.js';
import { testDatabase } from '../support/database.js';

/** The short form; `npm run prove -- client` has the full count. */
describe('the client, while connections break and 503 is answered', () => {
  it('the client makes each transfer once and reports none wrongly while connections break and 503 is answered', async () => {
    await clientCampaign({
      db: await testDatabase(),
      transfers: 150,
      width: 16,
      cutsPerThousand: 60,
      seed: 11,
    });
  });
});
