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

  it('before and after it: each payout is paid once, and all come to their end', async () => {
    // Both in one campaign: what was cut off is waited for once.
    const kills = RAIL_FAILPOINTS.length;
    await killedAroundRail({
      db,
      api,
      temporal,
      failpoints: RAIL_FAILPOINTS,
      payouts: 8 * kills,
      kills,
    });
  });
});
