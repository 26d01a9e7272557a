import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../src/db/database.js';
import { DatabaseUnavailable } from '../../src/db/failures.js';
import type { PrimaryObserver } from '../../src/db/primary.js';
import {
  freshDatabase,
  openDatabase,
  type TestDatabase,
  testDatabase,
} from '../helpers/database.js';
import { PrivateMysql } from '../helpers/private-mysql.js';
import { Proxy } from '../helpers/proxy.js';

/** A planned change is seen within this. */
const SEEN_MS = 2_000;
const STATEMENT_TIMEOUT_MS = 5_000;
const NAME = 'money_primary';

const serverOf = async (database: Database): Promise<string> =>
  String((await database.current.query('SELECT @@port AS port'))[0]?.port);

/** On the pool of the lists. */
const portOf = async (database: Database): Promise<string> =>
  String((await database.reader.query('SELECT @@port AS port,SLEEP(0.05)'))[0]?.port);

describe('a list of several servers', () => {
  let servers: PrivateMysql[] = [];
  let made: TestDatabase[] = [];
  let url: string;
  let database: Database;
  let told: string[];

  before(async function () {
    if (!PrivateMysql.isPossible) this.skip();
    servers = await Promise.all([PrivateMysql.start(), PrivateMysql.start()]);
    made = await Promise.all(servers.map(({ adminUrl }) => freshDatabase(adminUrl, NAME)));
    const [user] = made[0]!.url.split('@');
    url = `${user}@${servers.map(({ port }) => `127.0.0.1:${port}`).join(',')}/${NAME}`;
  });

  after(async () => {
    await Promise.all(made.map((one) => one.close()));
    await Promise.all(servers.map((server) => server.remove()));
  });

  beforeEach(async () => {
    told = [];
    const observer: PrimaryObserver = {
      found: (server) => told.push(`found ${server}`),
      lost: (server) => told.push(`lost ${server}`),
      refused: (several) => told.push(`refused ${several.join(' ')}`),
    };
    await setReadOnly(1);
    database = openDatabase(url, { observer, statementTimeoutMs: STATEMENT_TIMEOUT_MS });
  });

  afterEach(() => database.close());

  const name = (index: number): string => `127.0.0.1:${servers[index]!.port}`;

  async function setReadOnly(...indices: readonly number[]): Promise<void> {
    for (const [index, one] of made.entries())
      await one.change(`SET GLOBAL read_only=${indices.includes(index) ? 'ON' : 'OFF'}`);
  }

  it('the server that accepts writes is used, wherever it is in the list of servers', async () => {
    assert.equal(await serverOf(database), String(servers[0]!.port));
    const [user, rest = ''] = url.split('@');
    const turned = openDatabase(
      `${user}@${rest.split('/')[0]!.split(',').reverse().join(',')}/${NAME}`,
    );
    assert.equal(await serverOf(turned), String(servers[0]!.port));
    await turned.close();
  });

  it('a server that becomes the writer is used within two seconds, and requests wait for it', async () => {
    await serverOf(database);
    await setReadOnly(0);
    // A moment in which this process stands still does not count.
    let waitedMs = 0;
    for (let last = performance.now(); (await serverOf(database)) !== String(servers[1]!.port);) {
      await sleep(20);
      waitedMs += Math.min(performance.now() - last, 200);
      last = performance.now();
      assert(waitedMs < SEEN_MS);
    }
    assert.deepEqual(told, [`found ${name(0)}`, `lost ${name(0)}`, `found ${name(1)}`]);
  });

  it('a write refused as read-only triggers a search for the writer at once, and is known to have no effect', async () => {
    await serverOf(database);
    await setReadOnly(0);
    await assert.rejects(
      database.withTransaction((transaction) =>
        transaction.execute("UPDATE tenants SET network='x'"),
      ),
      (failure) => failure instanceof DatabaseUnavailable && failure.name === 'DatabaseUnavailable',
    );
    assert.equal(await serverOf(database), String(servers[1]!.port));
  });

  it('no server is used while two accept writes, and both are named', async () => {
    await setReadOnly();
    await assert.rejects(serverOf(database), /several servers do/);
    assert.deepEqual(told, [`refused ${name(0)} ${name(1)}`]);
    await setReadOnly(1);
    assert.equal(await serverOf(database), String(servers[0]!.port));
  });

  it('no server is used while none accepts writes: requests are 503 without a connection', async () => {
    await serverOf(database);
    await setReadOnly(0, 1);
    await sleep(SEEN_MS);
    assert.equal(database.isPrimaryKnown(), false);
    await assert.rejects(serverOf(database), { name: 'NoPrimary' });
  });

  it('two names of one server count as one server', async () => {
    const [user] = url.split('@');
    const twice = openDatabase(`${user}@${name(0)},localhost:${servers[0]!.port}/${NAME}`);
    assert.equal(await serverOf(twice), String(servers[0]!.port));
    await twice.close();
  });

  it('a server that stops responding counts as the writer for at most two seconds', async () => {
    await serverOf(database);
    servers[0]!.freeze();
    try {
      await sleep(SEEN_MS + 100);
      assert.equal(database.isPrimaryKnown(), false);
      const began = performance.now();
      await assert.rejects(database.lookup.query('SELECT 1'), DatabaseUnavailable);
      assert(performance.now() - began < 5 * STATEMENT_TIMEOUT_MS);
    } finally {
      servers[0]!.thaw();
    }
    assert.equal(await serverOf(database), String(servers[0]!.port));
  });
});

describe('an address that leads to another server than before', () => {
  it('a connection that reaches another server than before is detected before its first query', async function () {
    if (!PrivateMysql.isPossible) this.skip();
    const db = await testDatabase();
    const other = await PrivateMysql.start();
    const proxy = await Proxy.open(db.url);
    try {
      await (await freshDatabase(other.adminUrl, NAME)).close();
      // Both servers have this user and this database, and both take writes.
      const own = await freshDatabase(process.env.TEST_MYSQL_ADMIN_URL!, NAME);
      const database = openDatabase(proxy.through(own.url), { readConnections: 2 });
      const first = await serverOf(database);
      proxy.leadTo(other.port);
      assert.notEqual(first, String(other.port));
      // Of two that are asked at once one needs a connection more.
      const both = (): Promise<string[]> => Promise.all([portOf(database), portOf(database)]);
      assert((await both()).includes(String(other.port)));
      assert.deepEqual(await both(), [String(other.port), String(other.port)]);
      await database.close();
      await own.remove();
    } finally {
      await proxy.close();
      await other.remove();
    }
  });
});
