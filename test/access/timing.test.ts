import assert from 'node:assert/strict';
import { BEYOND_DOUBT, probabilityOfLonger, standardError, timingCampaign } from '../campaigns/timing.js';
import { startTestApi } from '../support/api.js';
import { testDatabase } from '../support/database.js';
import { assertLedgerSound } from '../support/world.js';

describe('the time that an answer takes', function () {
  this.timeout(600_000);

  it("does not reveal whether an id is another tenant's or nobody's (short: npm run prove -- timing)", async () => {
    const db = await testDatabase();
    const api = await startTestApi(db);
    try {
      await timingCampaign({ api, baseUrl: api.baseUrl, requests: 40, errors: BEYOND_DOUBT });
    } finally {
      await assertLedgerSound(db.database);
      await api.stop();
    }
  });

  it('is compared by ranks, which detect a shift that is small compared with the spread', () => {
    // Spread like times: many short ones and a long tail; the same in each run.
    const times = Array.from({ length: 20_000 }, (_, index) => -Math.log(1 - ((index * 7_919) % 20_000) / 20_000));
    const error = standardError(times.length, times.length);
    const shifted = times.map((time) => time + 0.03);
    assert.ok(Math.abs(probabilityOfLonger(times, times) - 0.5) < error);
    assert.ok((probabilityOfLonger(shifted, times) - 0.5) / error > 4.5, 'three hundredths of the mean are seen');
    assert.ok((probabilityOfLonger(times, shifted) - 0.5) / error < -4.5);
  });
});
