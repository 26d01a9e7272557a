import { RAIL_FAILPOINTS } from '../../src/core/failpoints.js';
import { killedAroundRail } from '../campaigns/payouts.js';
import { startTestApi, type TestApi } from '../support/api.js';
import { type TestDatabase, testDatabase } from '../support/database.js';
import { temporalEnvironment, type TestTemporal, testTemporal } from '../support/temporal.js';
import { assertLedgerSound } from '../support/world.js';

describe('a worker that is killed around the call of the rail', () => {
  let db: TestDatabase;
  let temporal: TestTemporal;
  let api: TestApi;

  before(async () => {
    db = await testDatabase();
    temporal = await testTemporal();
    api = await startTestApi(db, temporalEnvironment(temporal));
  });

  after(async () => {
    await assertLedgerSound(db.database);
    await api.stop();
  });

  for (const failpoint of RAIL_FAILPOINTS)
    it(`at ${failpoint}: each payout is paid once, and all come to their end`, async function () {
      this.timeout(240_000);
      await killedAroundRail({ db, api, temporal, failpoint, payouts: 8, kills: 1 });
    });
});
