import assert from 'node:assert/strict';
import { restoreDrill } from '../campaigns/restore.js';
import { RowCopier } from '../campaigns/restored-copies.js';
import { testDatabase } from '../helpers/database.js';
import { testTemporal } from '../helpers/temporal.js';

describe('a database that is put back under load', () => {
  it('a database that is put back under load posts nothing until the restore is finished, uses no sequence twice, lists every later payment, and continues what waited', async () => {
    const adminUrl = process.env.TEST_MYSQL_ADMIN_URL;
    assert.ok(adminUrl, 'TEST_MYSQL_ADMIN_URL is not set');
    const copier = new RowCopier(await testDatabase(), adminUrl);
    const temporal = await testTemporal();
    await restoreDrill({
      ...{ copier, temporal },
      ...{ clients: 4, pauseMs: 100, beforeMs: 500, lostMs: 500, rows: 20 },
    });
  });
});
