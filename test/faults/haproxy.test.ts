import { rollingCampaign } from '../campaigns/rolling.js';
import { twoOfEachCampaign } from '../campaigns/two-of-each.js';
import { upgradeCampaign } from '../campaigns/upgrade.js';
import { ownDatabase } from '../webhooks/support.js';
import { testDatabase } from '../support/database.js';
import { Haproxy } from '../support/haproxy.js';
import { testTemporal } from '../support/temporal.js';

describe('two API processes behind a proxy and two workers', () => {
  before(function () {
    if (!Haproxy.isPossible) this.skip();
  });

  it('lose no request and no event while one after the other is restarted', async () => {
    await rollingCampaign({ db: await testDatabase(), temporal: await testTemporal(), perSecond: 20, rounds: 1 });
  });

  it('answer the truth and end everything once, whichever of them, of MySQL and of Temporal fails', () =>
    twoOfEachCampaign({ rounds: 1, clients: 4, pauseMs: 150, calmMs: 200, rows: 50, betweenBatchesMs: 1_000 }));

  it('go to a release whose workflows do more, back and forth again, and no task of a workflow fails', async () => {
    const db = await ownDatabase('fleet_upgrade');
    try {
      await upgradeCampaign({ db, temporal: await testTemporal(), open: 10, perSecond: 8 });
    } finally {
      await db.remove();
    }
  });
});
