import assert from 'node:assert/strict';
import { createConnection } from 'mysql2/promise';
import { members, tenants } from '../../src/db/entities/parties.js';
import { newId } from '../../src/core/ids.js';
import { instant } from '../../src/core/instant.js';
import { uuid } from '../../src/db/columns.js';
import { DatabaseUnavailable, errnoOf } from '../../src/db/failures.js';
import { insertSql, updateSql } from '../../src/db/statements.js';
import { openDatabase, testDatabase } from '../helpers/database.js';
import { Proxy } from '../helpers/proxy.js';
import { until } from '../helpers/temporal.js';
import { makeAccount, makeTenant, openWriter } from '../helpers/world.js';

const db = await testDatabase();

describe('the database', () => {
  it('returns a row exactly as written, with any text', async () => {
    const texts = [
      `O'Hara "x" \\ ; -- /* $1 ? ?? %s`,
      `O'Hara`,
      '"x" and a \\',
      'ß ss É e\u0301',
      '日本 🙂',
      ' ends in a space ',
    ];
    for (const name of texts) {
      const row = {
        id: newId(),
        tenantId: newId(),
        name,
        createdAt: instant(Date.UTC(2026, 10, 30, 23, 59, 59, 999)),
        isActive: true,
      };
      await db.database.withTransaction(async (transaction) => {
        await transaction.execute(insertSql(members, [row]));
      });
      assert.deepEqual(await db.database.reader.find(members, { id: row.id }), row);
    }
  });

  it('a tenant uses at most half of the connections for reads, and two of them for searches', async () => {
    const { tenant } = await makeTenant(db.database);
    const own = openDatabase(db.url, { readConnections: 6 });
    const reader = own.readerFor({ tenantId: tenant.id });
    assert.equal(reader.cacheKey, own.reader.cacheKey);
    const reads = () => own.poolUse().get('reads');
    for (const [by, most] of [
      [reader, 3],
      [reader.searches, 2],
    ] as const) {
      const name = `'reads ${most}'`;
      await db.database.withTransaction(async (transaction) => {
        await transaction.all([`SELECT GET_LOCK(${name}, 0)`]);
        const waiting = Array.from({ length: 10 }, () =>
          by.query(`SELECT GET_LOCK(${name}, 60), RELEASE_LOCK(${name})`),
        );
        await until('the tenant has its share', () => Promise.resolve(reads()?.used === most));
        await own.reader.query('SELECT 1');
        assert.equal(reads()?.used, most);
        await transaction.all([`SELECT RELEASE_LOCK(${name})`]);
        await Promise.all(waiting);
      });
    }
    await own.close();
  });

  it('a transaction is rolled back if its work throws', async () => {
    const { tenant } = await makeTenant(db.database);
    await assert.rejects(
      db.database.withTransaction(async (transaction) => {
        await transaction.execute(
          updateSql(tenants, { name: `gone ${newId()}` }, { id: tenant.id }),
        );
        throw new Error('no');
      }),
      /^Error: no$/,
    );
    assert.equal((await db.database.reader.find(tenants, { id: tenant.id }))?.name, tenant.name);
  });

  it('a database snapshot shows one moment while other transactions write, and locks nothing', async () => {
    const { tenant } = await makeTenant(db.database);
    const seen = await db.database.withSnapshot(async (reader) => {
      const before = await reader.find(tenants, { id: tenant.id });
      await db.database.withTransaction(async (transaction) => {
        await transaction.execute(updateSql(tenants, { network: 'later' }, { id: tenant.id }));
      });
      return [before?.network, (await reader.find(tenants, { id: tenant.id }))?.network];
    }, 5_000);
    assert.deepEqual(seen, [null, null]);
    assert.equal((await db.database.reader.find(tenants, { id: tenant.id }))?.network, 'later');
  });

  it('keeps connections for postings while any number of other transactions wait', async () => {
    const connections = {
      transactionConnections: 5,
      postingConnections: 2,
      statementTimeoutMs: 10_000,
    };
    const database = openDatabase(db.url, connections);
    let over: () => void = () => undefined;
    const waits = new Promise<void>((resolve) => (over = resolve));
    const use = () => database.poolUse().get('transactions');
    const others = Array.from({ length: 9 }, () =>
      database.withTransaction(async (transaction) => {
        await transaction.query('SELECT 1');
        await waits;
      }),
    );
    await until('as many wait as may', () =>
      Promise.resolve(use()?.used === 3 && use()?.waiting === 6),
    );
    const posting = () => database.withPosting((transaction) => transaction.query('SELECT 1'));
    for (let round = 0; round < 3; round += 1) await Promise.all([posting(), posting(), posting()]);
    over();
    await Promise.all(others);
    assert.deepEqual([use()?.used, use()?.waiting], [0, 0]);
    await database.close();
  });

  it('a transaction waits for a connection no longer than its deadline, also after failures', async () => {
    const database = openDatabase(db.url, {
      transactionConnections: 3,
      postingConnections: 1,
      statementTimeoutMs: 2_000,
    });
    const asked = (sql: string) =>
      database.withTransaction((transaction) => transaction.query(sql));
    for (let round = 0; round < 3; round += 1)
      await assert.rejects(asked('SELECT nothing'), /Unknown column/);
    const stuck = await Promise.allSettled([
      asked('SELECT SLEEP(8)'),
      asked('SELECT SLEEP(8)'),
      asked('SELECT 1'),
    ]);
    for (const ended of stuck)
      assert(ended.status === 'rejected' && ended.reason instanceof DatabaseUnavailable);
    await asked('SELECT 1');
    await database.close();
  });

  it('reports that MySQL is unavailable, and no other error, when MySQL refuses a connection, stalls or disconnects', async () => {
    const proxy = await Proxy.open(db.url);
    const database = openDatabase(proxy.through(db.url), { statementTimeoutMs: 3_000 });
    await database.reader.query('SELECT 1');
    proxy.cutAll();
    await database.reader.query('SELECT 1');
    proxy.refuse();
    await assert.rejects(database.reader.query('SELECT 1'), DatabaseUnavailable);
    proxy.allow();
    await database.reader.query('SELECT 1');
    proxy.stall();
    await assert.rejects(database.reader.query('SELECT 1'), DatabaseUnavailable);
    proxy.resume();
    await database.reader.query('SELECT 1');
    await database.close();
    await proxy.close();
  });

  it('gives up a new connection that hangs before its first statement', async () => {
    const proxy = await Proxy.open(db.url);
    const database = openDatabase(proxy.through(db.url), {
      readConnections: 1,
      transactionConnections: 1,
      statementTimeoutMs: 300,
    });
    proxy.fateOf = (data) => (data.includes('autocommit') ? 'stall' : 'pass');
    for (let count = 0; count < 2; count += 1) {
      await assert.rejects(database.reader.query('SELECT 1'), DatabaseUnavailable);
      await assert.rejects(
        database.withTransaction((transaction) => transaction.query('SELECT 1')),
        DatabaseUnavailable,
      );
    }
    proxy.fateOf = () => 'pass';
    await worksAgain(database);
    await database.close();
    await proxy.close();
  });

  it('itself refuses a balance below zero', async () => {
    const { writer } = openWriter(db.database);
    const account = await makeAccount(
      { database: db.database, writer },
      await makeTenant(db.database),
    );
    const admin = await createConnection({ uri: db.adminUrl });
    for (const change of ['available=-1', 'held=-1'])
      await assert.rejects(
        admin.query(`UPDATE balances SET ${change} WHERE account_id=${uuid.literal(account.id)}`),
        (error) => [4025, 3819].includes(errnoOf(error) ?? 0),
      );
    await admin.end();
  });
});

/** Within a while: the machine may be too busy for the short time that a test allows. */
async function worksAgain(database: ReturnType<typeof openDatabase>): Promise<void> {
  await until('it reads', () => database.reader.query('SELECT 1').catch(() => null));
  const writing = () => database.withTransaction((transaction) => transaction.query('SELECT 1'));
  await until('it writes', () => writing().catch(() => null));
}
