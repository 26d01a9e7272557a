import { bridgeFailpoints, temporalAway } from '../campaigns/bridge.js';
import { type TestDatabase, testDatabase } from '../support/database.js';
import { newNamespace, sharedAddress } from '../support/temporal.js';

/** Enough that some transfer is at every point; more would only wait for Temporal. */
const LOAD = { clients: 4, pauseMs: 500 };

describe('pending transfers end as decided', function () {
  this.timeout(1_800_000);
  let db: TestDatabase;

  before(async () => {
    db = await testDatabase();
  });

  it('when the worker dies before or after a COMMIT, and the worker or API before or after telling Temporal', async () => {
    const temporal = await newNamespace(sharedAddress(), 'kills');
    // Before and after the locks the desk ends in test/ledger/kills.test.ts, and the worker too in `npm run prove -- bridge-failpoints`.
    await bridgeFailpoints({
      db,
      temporal,
      ...LOAD,
      rounds: 1,
      ofDesk: ['before_commit', 'after_commit'],
    });
  });

  it('when Temporal is killed, stays away and comes back; instant transfers never notice', async () => {
    await temporalAway({ db, awayMs: 3_000, ...LOAD });
  });
});
