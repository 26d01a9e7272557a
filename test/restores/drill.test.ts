import assert from 'node:assert/strict';
import { restoreDrill } from '../campaigns/restore.js';
import { RowCopier } from '../campaigns/restored-copies.js';
import { testDatabase } from '../helpers/database.js';
import { testTemporal } from '../helpers/temporal.js';

describe('a database that is restored under load', () => {
  it('a database restored under load posts nothing before the restore is finished, reuses no sequence, and continues waiting work', async () => {
    const adminUrl = process.env.TEST_MYSQL_ADMIN_URL;
    assert.ok(adminUrl, 'TEST_MYSQL_ADMIN_URL is not set');
    const copier = new RowCopier(await testDatabase(), adminUrl);
    const temporal = await testTemporal();
    await restoreDrill({
      ...{ copier, temporal },
      ...{ clients: 4, pauseMs: 100, beforeMs: 500, lostMs: 500, rows: 20, suppliers: 10 },
    });
  });
});
