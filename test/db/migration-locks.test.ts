import assert from 'node:assert/strict';
import { createConnection, type Connection } from 'mysql2/promise';
import { migrate } from '../../src/db/migrate.js';

/** The migrations before the one that adds a column to `holds`. */
const BEFORE = 1763746400000;

describe('migrations', () => {
  const name = `money_locks_${process.env.MOCHA_WORKER_ID ?? '0'}_${process.pid}`;
  const adminUrl = process.env.TEST_MYSQL_ADMIN_URL ?? '';
  const url = new URL(adminUrl);
  let admin: Connection;

  before(async () => {
    [url.username, url.password, url.pathname] = [name, 'test-only', `/${name}`];
    admin = await createConnection({ uri: adminUrl });
    await admin.query(`CREATE DATABASE ${name} CHARACTER SET utf8mb4`);
    await admin.query(`CREATE USER '${name}'@'%' IDENTIFIED BY 'test-only'`);
  });

  after(async () => {
    await admin.query(`DROP DATABASE ${name}`);
    await admin.query(`DROP USER '${name}'@'%'`);
    await admin.end();
  });

  it('are run by one process, however many are started at once', async () => {
    const run = (): Promise<readonly string[]> => migrate({ adminUrl, url: url.href, until: BEFORE });
    const done = await Promise.all([run(), run(), run()]);
    assert.equal(done.filter((names) => names.length > 0).length, 1);
    assert.ok(done.flat().length > 10);
  });

  it('let others go first while a table is in long use, and continue when it is free', async () => {
    const [reader, other] = [await createConnection({ uri: adminUrl }), await createConnection({ uri: adminUrl })];
    await reader.query('START TRANSACTION');
    await reader.query(`SELECT * FROM ${name}.holds`);
    const waits: string[] = [];
    let isDone = false;
    const migrating = migrate({
      ...{ adminUrl, url: url.href, lockWaitS: 1 },
      onWait: (statement) => waits.push(statement),
    }).finally(() => (isDone = true));
    while (waits.length === 0) await new Promise((later) => setTimeout(later, 20));
    assert.match(waits[0]!, /ALTER TABLE holds/);
    // While the change of the table waits, others wait behind it; not for longer than a second.
    const began = performance.now();
    for (let asked = 0; asked < 3; asked += 1) await other.query(`SELECT * FROM ${name}.holds`);
    assert.ok(performance.now() - began < 6_000);
    assert.equal(isDone, false);
    await reader.query('COMMIT');
    assert.ok((await migrating).length > 0);
    await Promise.all([reader.end(), other.end()]);
  });
});
