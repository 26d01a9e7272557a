import type { Database } from '../../src/db/database.js';
import { racingCampaign } from '../campaigns/racing.js';
import { sameKeyCampaign } from '../campaigns/same-key.js';
import { openDatabase, testDatabase } from '../support/database.js';

/** Short forms; `npm run prove` has the full counts. */
const ROUNDS = 5;
const TRANSFERS = 600;

const db = await testDatabase();

describe('ledger writers that race on one database', () => {
  let second: Database;

  before(async () => {
    second = openDatabase(db.url);
  });

  after(() => second.close());

  it('ledger writers that race on one database let exactly one of 100 simultaneous requests with one key act, and give all the same resource', async () => {
    await sameKeyCampaign({ databases: [db.database], rounds: ROUNDS, width: 100 });
    await sameKeyCampaign({ databases: [db.database, second], rounds: ROUNDS, width: 100 });
  });

  it('ledger writers that race on one database move money between the same accounts in opposite directions and answer every request', async () => {
    await racingCampaign({ databases: [db.database, second], transfers: TRANSFERS, clients: 32 });
  });
});
