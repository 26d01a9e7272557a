import assert from 'node:assert/strict';
import { failoverCampaign } from '../campaigns/failover.js';
import { GaleraGroup, galeraTools } from '../support/galera-group.js';
import { MysqlGroup, realMysql } from '../support/mysql-group.js';

/** The full counts run by `npm run prove -- failover failover-galera`. */
const NEEDS_MYSQL = 'PENDING: needs root and MySQL itself, which `npm run test:mysql` fetches once';
const NEEDS_GALERA = 'PENDING: needs root on Debian, and MariaDB';

describe(realMysql() === null ? `a group of servers (${NEEDS_MYSQL})` : 'a group of servers', () => {
  it('gives its primary from member to member under clients: nothing is lost, nothing stale is read', async function () {
    if (realMysql() === null) this.skip();
    const counts = { switchovers: 2, kills: 0, pauses: 0, cuts: 0 };
    const lines = await failoverCampaign({ start: () => MysqlGroup.start(3), clients: 16, ...counts });
    assert.equal(lines.length, 3);
  });
});

describe(galeraTools() === null ? `a cluster of MariaDB (${NEEDS_GALERA})` : 'a cluster of MariaDB', () => {
  it('has another member write while its writer is maintained, under clients: nothing is lost, nothing stale is read', async function () {
    if (galeraTools() === null) this.skip();
    const counts = { switchovers: 2, kills: 0, pauses: 0, cuts: 0 };
    const lines = await failoverCampaign({ start: () => GaleraGroup.start(3), clients: 16, ...counts });
    assert.equal(lines.length, 3);
  });
});
