import assert from 'node:assert/strict';
import { failoverCampaign } from '../campaigns/failover.js';
import { realMysql } from '../support/mysql-group.js';

/** The full counts run by `npm run prove -- failover`. */
const PENDING = 'PENDING: needs root and MySQL itself, which `npm run test:mysql` fetches once';

describe(realMysql() === null ? `a group of servers (${PENDING})` : 'a group of servers', () => {
  it('gives its primary from member to member under clients: nothing is lost, nothing stale is read', async function () {
    if (realMysql() === null) this.skip();
    const lines = await failoverCampaign({ members: 3, clients: 16, switchovers: 2, kills: 0, pauses: 0, cuts: 0 });
    assert.equal(lines.length, 3);
  });
});
