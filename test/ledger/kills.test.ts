import { DESK_FAILPOINTS } from '../../src/core/failpoints.js';
import {
  failpointCampaign,
  frozenMysqlCampaign,
  killApiCampaign,
  killMysqlCampaign,
} from '../campaigns/kills.js';
import { type TestDatabase, testDatabase } from '../support/database.js';
import { PrivateMysql } from '../support/private-mysql.js';

/** Short forms; `npm run prove` has the full counts. */
const LOAD = { clients: 8, pauseMs: 25 };

describe('no money is made, lost or moved twice', () => {
  let db: TestDatabase;

  before(async () => {
    db = await testDatabase();
  });

  it('when the API is killed under load', () => killApiCampaign(db, { kills: 2, ...LOAD }));

  it('when the API ends before and after the locks and the COMMIT of a posting', () =>
    failpointCampaign(db, DESK_FAILPOINTS, { kills: 1, ...LOAD }));

  it('when MySQL is killed under load', async function () {
    if (!PrivateMysql.isPossible) return this.skip();
    await killMysqlCampaign({ kills: 1, ...LOAD });
  });

  it('when MySQL does not answer for a while', async function () {
    if (!PrivateMysql.isPossible) return this.skip();
    await frozenMysqlCampaign({ awayMs: 1_500, ...LOAD });
  });
});
