import { followingStorm } from '../campaigns/http-following.js';
import { startTestApi, type TestApi } from '../support/api.js';
import { testDatabase } from '../support/database.js';

const db = await testDatabase();
const api = await startTestApi(db);

describe('the event log, followed while 64 writers write', () => {
  let other: TestApi;

  before(async () => {
    other = await startTestApi(db);
  });

  it('the event log shows every event once and in order, and never one below what was already read, while 64 writers write', async () => {
    await followingStorm({ api, others: [other.baseUrl], writers: 64, transfers: 8 });
  });
});
