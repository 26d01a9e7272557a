import { followingStorm } from '../campaigns/http-following.js';
import { startTestApi, type TestApi } from '../support/api.js';
import { type TestDatabase, testDatabase } from '../support/database.js';

describe('the event log, followed while 64 writers write', () => {
  let db: TestDatabase;
  let api: TestApi;
  let other: TestApi;

  before(async () => {
    db = await testDatabase();
    api = await startTestApi(db);
    other = await startTestApi(db);
  });

  after(async () => {
    await other.stop();
    await api.stop();
  });

  it('the event log, followed while 64 writers write shows every event once and in order, and never one below what was already read', async () => {
    await followingStorm({ api, others: [other.baseUrl], writers: 64, transfers: 8 });
  });
});
