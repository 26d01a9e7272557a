import { twoOfEachCampaign } from '../campaigns/two-of-each.js';
import { upgradeCampaign } from '../campaigns/upgrade.js';
import { ownDatabase } from '../webhooks/support.js';
import { Haproxy } from '../support/haproxy.js';
import { testTemporal } from '../support/temporal.js';

describe('two API processes behind a proxy and two workers', function () {
  this.timeout(1_800_000);
  before(function () {
    if (!Haproxy.isPossible) this.skip();
  });

  it('answer truthfully and end everything once, whether one of them, MySQL or Temporal fails', () =>
    twoOfEachCampaign({
      rounds: 1,
      clients: 4,
      pauseMs: 150,
      calmMs: 200,
      rows: 50,
      betweenBatchesMs: 1_000,
    }));

  it('lose no request, event or workflow task while they are upgraded one by one, to a release with changed workflows', async () => {
    const db = await ownDatabase('fleet_upgrade');
    try {
      await upgradeCampaign({ db, temporal: await testTemporal(), open: 10, perSecond: 8 });
    } finally {
      await db.remove();
    }
  });
});
