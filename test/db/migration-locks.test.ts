import assert from 'node:assert/strict';
import { createConnection, type Connection } from 'mysql2/promise';
import { ForeignSchema, migrate } from '../../src/db/migrate.js';

describe('migrations', () => {
  const name = `money_locks_${process.env.MOCHA_WORKER_ID ?? '0'}_${process.pid}`;
  const adminUrl = process.env.TEST_MYSQL_ADMIN_URL ?? '';
  const url = new URL(adminUrl);
  let admin: Connection;

  before(async () => {
    [url.username, url.password, url.pathname] = [name, 'test-only', `/${name}`];
    admin = await createConnection({ uri: adminUrl });
    await admin.query(`CREATE USER '${name}'@'%' IDENTIFIED BY 'test-only'`);
  });
  beforeEach(async () => {
    await admin.query(`DROP DATABASE IF EXISTS ${name}`);
    await admin.query(`CREATE DATABASE ${name} CHARACTER SET utf8mb4`);
  });
  after(async () => {
    await admin.query(`DROP DATABASE ${name}`);
    await admin.query(`DROP USER '${name}'@'%'`);
    await admin.end();
  });

  it('if many processes start at once, one process runs the migrations', async () => {
    const run = (): Promise<readonly string[]> => migrate({ adminUrl, url: url.href });
    const done = await Promise.all([run(), run(), run()]);
    assert.deepEqual(
      done.filter((names) => names.length > 0).map((names) => names.length),
      [1],
    );
  });

  it('finish when the first installation was interrupted after any of its tables', async () => {
    await migrate({ adminUrl, url: url.href });
    await admin.query(`DELETE FROM ${name}.schema_migrations`);
    await admin.query(`DROP TABLE ${name}.transfers, ${name}.webhook_endpoints`);
    assert.equal((await migrate({ adminUrl, url: url.href })).length, 1);
    await admin.query(`SELECT 1 FROM ${name}.transfers, ${name}.webhook_endpoints`);
    assert.deepEqual(await migrate({ adminUrl, url: url.href }), []);
  });

  it('refuse a schema that another release made', async () => {
    await migrate({ adminUrl, url: url.href });
    await admin.query(
      `INSERT INTO ${name}.schema_migrations (timestamp, name) VALUES (1, 'Other1763683200000')`,
    );
    await assert.rejects(migrate({ adminUrl, url: url.href }), ForeignSchema);
  });

  it('stop waiting for a table in use after the time limit, so that other statements pass, and then retry', async () => {
    await migrate({ adminUrl, url: url.href });
    await admin.query(`DELETE FROM ${name}.schema_migrations`);
    const reader = await createConnection({ uri: adminUrl });
    await reader.query(`LOCK TABLES ${name}.reserved_aliases WRITE`);
    const waits: string[] = [];
    const migrating = migrate({
      ...{ adminUrl, url: url.href, lockWaitS: 1 },
      onWait: (statement) => waits.push(statement),
    });
    while (waits.length === 0) await new Promise((later) => setTimeout(later, 20));
    assert.match(waits[0]!, /reserved_aliases/);
    await reader.query('UNLOCK TABLES');
    assert.equal((await migrating).length, 1);
    await reader.end();
  });
});
