import { activitiesCampaign } from '../campaigns/approval-activities.js';
import { racesCampaign } from '../campaigns/approval-races.js';
import { startTestApi, type TestApi } from '../support/api.js';
import { type TestDatabase, testDatabase } from '../support/database.js';

describe('pending transfers', () => {
  let db: TestDatabase;
  let api: TestApi;

  before(async () => {
    db = await testDatabase();
    api = await startTestApi(db);
  });

  after(() => api.stop());

  it('pending transfers end once, by one event, when approve, reject, cancel and expiry come together', async () => {
    await racesCampaign({ db, api, rounds: 50, seed: 20_261_101 });
  });

  it('pending transfers are paid once however often and late the activities run', async () => {
    await activitiesCampaign({ db, api, transfers: 60, calls: 2_000, seed: 20_261_102 });
  });
});
