import { activitiesCampaign } from '../campaigns/approval-activities.js';
import { racesCampaign } from '../campaigns/approval-races.js';
import { startTestApi } from '../support/api.js';
import { testDatabase } from '../support/database.js';

const db = await testDatabase();
const api = await startTestApi(db);

describe('pending transfers', () => {
  it('pending transfers end once, by one event, when approve, reject, cancel and expiry come together', async () => {
    await racesCampaign({ db, api, rounds: 50, seed: 20_261_101 });
  });

  it('pending transfers are paid once however often and late the activities run', async () => {
    await activitiesCampaign({ db, api, transfers: 60, calls: 2_000, seed: 20_261_102 });
  });
});
