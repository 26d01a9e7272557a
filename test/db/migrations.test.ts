import assert from 'node:assert/strict';
import { createConnection } from 'mysql2/promise';
import { migrate } from '../../src/db/migrate.js';
import { asUuid } from '../../src/core/ids.js';
import { instant } from '../../src/core/instant.js';
import { openDatabase } from '../support/database.js';
import { transferWaiting } from '../../src/transfers/waiting.js';

const BEFORE = 1763746100000;
const ADDED = 1763746500000;
const ID = (digit: string): string => `X'${digit.repeat(32)}'`;

describe('a database of an earlier version', () => {
  const name = `money_before_${process.env.MOCHA_WORKER_ID ?? '0'}_${process.pid}`;
  const adminUrl = process.env.TEST_MYSQL_ADMIN_URL ?? '';

  after(async () => {
    const admin = await createConnection({ uri: adminUrl });
    await admin.query(`DROP DATABASE ${name}`);
    await admin.query(`DROP USER '${name}'@'%'`);
    await admin.end();
  });

  it('finds what waits for approval by its hold, including what older processes create between the two migrations', async () => {
    const admin = await createConnection({ uri: adminUrl, dateStrings: true });
    await admin.query(`CREATE DATABASE ${name} CHARACTER SET utf8mb4`);
    await admin.query(`CREATE USER '${name}'@'%' IDENTIFIED BY 'test-only'`);
    const url = new URL(adminUrl);
    [url.username, url.password, url.pathname] = [name, 'test-only', `/${name}`];
    const until = (number?: number): Promise<readonly string[]> => migrate({ adminUrl, url: url.href, until: number });
    const pend = async (id: string, status = 'pending_approval', remaining = 1): Promise<void> => {
      await admin.query(
        `INSERT INTO ${name}.transfers (id, tenant_id, source_account_id, destination_account_id, asset, raw, fee_raw, status,
           created_by, limit_month, created_at, approval_expires_at)
         VALUES (${id}, ${ID('a')}, ${ID('b')}, ${ID('c')}, 'COPM', 1, 0, '${status}', ${ID('a')}, '2031-01', '2031-01-01', '2031-01-02')`,
      );
      await admin.query(
        `INSERT INTO ${name}.holds (resource_id, resource_type, account_id, asset, raw, remaining, created_at)
         VALUES (${id}, 'transfer', ${ID('b')}, 'COPM', 1, ${remaining}, '2031-01-01')`,
      );
    };
    await until(BEFORE);
    await pend(ID('1'));
    await pend(ID('2'), 'expired', 0);
    assert.match((await until(ADDED)).at(-1)!, /^ExpiriesOfHolds/);
    await pend(ID('3'));
    assert.equal((await until()).length > 0, true);
    const [holds] = await admin.query(`SELECT expires_at AS at FROM ${name}.holds ORDER BY resource_id`);
    assert.deepEqual(
      (holds as { at: string | null }[]).map(({ at }) => at),
      ['2031-01-02 00:00:00.000', null, '2031-01-02 00:00:00.000'],
    );
    const database = openDatabase(url.href);
    const waiting = await transferWaiting.longWaiting(database.reader, instant(Date.parse('2032-01-01')), null, 10);
    assert.deepEqual(
      waiting.map(({ id }) => id),
      ['1', '3'].map((digit) => asUuid('xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx'.replaceAll('x', digit))),
    );
    assert.deepEqual(await until(), []);
    await database.close();
    await admin.end();
  });
});
