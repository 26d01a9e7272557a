import { bridgeFailpoints, temporalAway } from '../campaigns/bridge.js';
import { type TestDatabase, testDatabase } from '../support/database.js';
import { newNamespace, sharedAddress } from '../support/temporal.js';

const CLIENTS = 6;

describe('transfers that wait end as was decided', function () {
  this.timeout(400_000);
  let db: TestDatabase;

  before(async () => {
    db = await testDatabase();
  });

  it('when the worker ends at any failpoint, and the API before and after it tells Temporal', async () => {
    const temporal = await newNamespace(sharedAddress(), 'kills');
    await bridgeFailpoints({ db, temporal, clients: CLIENTS, rounds: 1 });
  });

  it('when Temporal is killed, stays away and comes back; instant transfers never notice', async () => {
    await temporalAway({ db, awayMs: 3_000, clients: CLIENTS });
  });
});
