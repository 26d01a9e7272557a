import assert from 'node:assert/strict';
import { failoverCampaign } from '../campaigns/failover.js';
import { realMysql } from '../helpers/mysql-group.js';

/** The full counts, and how long it takes, are for `npm run prove -- failover`. */
const SHORT = {
  clients: 4,
  pauseMs: 200,
  switchovers: 1,
  kills: 1,
  pauses: 0,
  cuts: 0,
  maxOutageMs: 60_000,
};
const NEEDS_MYSQL = 'PENDING: needs root and MySQL itself, which `npm run test:mysql` fetches once';

describe(
  realMysql() === null ? `a group of servers (${NEEDS_MYSQL})` : 'a group of servers',
  () => {
    it('a group of servers that loses its primary under load, by a switchover and by a kill, loses no transfer and returns no stale read', async function () {
      if (realMysql() === null) this.skip();
      assert.equal((await failoverCampaign(SHORT)).length, 5);
    });
  },
);
