import { setTimeout as sleep } from 'node:timers/promises';
import { type Connection, createConnection, type RowDataPacket } from 'mysql2/promise';
import { systemClock } from '../../src/core/instant.js';
import { Database, type DatabaseDeps } from '../../src/db/database.js';
import { migrate } from '../../src/db/migrate.js';
import { stoppedAfterTests } from './after-tests.js';

/** A database of a test's own: the application's connections, and an administrator's to look and to break things with. */
export interface TestDatabase {
  readonly name: string;
  /** The application's user. */
  readonly url: string;
  readonly adminUrl: string;
  readonly database: Database;
  readonly deps: DatabaseDeps;
  /** Any statement, as the administrator. Answers its rows. */
  sql(text: string): Promise<Record<string, unknown>[]>;
  /** Runs a statement, and returns the number of changed rows. */
  change(text: string): Promise<number>;
  close(): Promise<void>;
  /** Closes it and takes the data and the user away. */
  remove(): Promise<void>;
}

export const STATEMENT_TIMEOUT_MS = 20_000;
const APP_PASSWORD = 'test-only';

type Made = Pick<TestDatabase, 'name' | 'url' | 'adminUrl'>;
let made: Promise<Made> | undefined;
let opened: Promise<TestDatabase> | undefined;

/** The database of this mocha worker, made and migrated once: as the migrations leave it when a file's tests begin. */
export function testDatabase(): Promise<TestDatabase> {
  opened ??= open();
  return opened;
}

/**
 * Hands what `testDatabase` opened to `audit`, and closes it. Its next call empties the database, so that no file meets what another
 * has left.
 */
export async function closeTestDatabase(
  audit: (database: Database) => Promise<void>,
): Promise<void> {
  const closing = await opened;
  opened = undefined;
  try {
    if (closing !== undefined) await audit(closing.database);
  } finally {
    await closing?.close();
  }
}

async function open(): Promise<TestDatabase> {
  if (made === undefined) {
    made = makeOwn();
    await keepSeeds(await made);
  } else {
    await empty(await made);
  }
  return openTestDatabase(await made);
}

/** The rows that the migrations wrote, kept in a second database. */
async function keepSeeds(own: Made): Promise<void> {
  await asAdmin(own, async (query) => {
    const seeds = `${own.name}_seeds`;
    await query(`DROP DATABASE IF EXISTS ${seeds}`);
    await query(`CREATE DATABASE ${seeds}`);
    for (const table of await filledTables(own.name, query))
      await query(`CREATE TABLE ${seeds}.${table} AS SELECT * FROM ${own.name}.${table}`);
  });
}

/** From this many rows on it is faster to make the table again than to delete them. */
const FEW_ROWS = 1_000;

async function empty(own: Made): Promise<void> {
  await asAdmin(own, async (query) => {
    for (const table of await filledTables(own.name, query)) {
      const name = `${own.name}.${table}`;
      const isLarge = (await query(`SELECT 1 FROM ${name} LIMIT 1 OFFSET ${FEW_ROWS}`)).length > 0;
      await query(`${isLarge ? 'TRUNCATE TABLE' : 'DELETE FROM'} ${name}`);
    }
    for (const table of await tablesOf(`${own.name}_seeds`, query))
      await query(`INSERT INTO ${own.name}.${table} SELECT * FROM ${own.name}_seeds.${table}`);
  });
}

type Query = (text: string) => Promise<RowDataPacket[]>;

async function asAdmin(own: Made, work: (query: Query) => Promise<void>): Promise<void> {
  const connection = await createConnection({ uri: own.adminUrl });
  try {
    await work(async (text) => (await connection.query<RowDataPacket[]>(text))[0]);
  } finally {
    await connection.end();
  }
}

async function tablesOf(database: string, query: Query): Promise<string[]> {
  const rows = await query(
    `SELECT table_name AS name FROM information_schema.tables WHERE table_schema='${database}'`,
  );
  return rows.map(({ name }) => `\`${String(name)}\``);
}

async function filledTables(database: string, query: Query): Promise<string[]> {
  const tables = await tablesOf(database, query);
  const each = tables.map(
    (table) => `SELECT '${table}' AS name WHERE EXISTS (SELECT 1 FROM ${database}.${table})`,
  );
  return (await query(each.join(' UNION ALL '))).map(({ name }) => String(name));
}

async function makeOwn(): Promise<Made> {
  const adminUrl = process.env.TEST_MYSQL_ADMIN_URL;
  if (adminUrl === undefined || adminUrl === '')
    throw new Error(
      'TEST_MYSQL_ADMIN_URL is not set: run the tests by npm test, or name a server that may be written to',
    );
  return makeDatabase(
    adminUrl,
    await freeName(adminUrl, `money_test_${process.env.MOCHA_WORKER_ID ?? '0'}`),
  );
}

/** Two runs on one server must not take each other's databases: a lock of the server's says which are in use. */
async function freeName(adminUrl: string, wanted: string): Promise<string> {
  // Open as long as the process: the lock ends with the connection.
  const connection = await createConnection({ uri: adminUrl });
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? wanted : `${wanted}_${number}`;
    const [rows] = await connection.query('SELECT GET_LOCK(?, 0) AS got', [name]);
    if ((rows as { got: number | null }[])[0]?.got !== 1) continue;
    unref(connection);
    return name;
  }
}

/** Must not keep the process from ending. */
function unref(connection: Connection): void {
  const { connection: inner } = connection as unknown as {
    connection: { stream: { unref(): void } };
  };
  inner.stream.unref();
}

/** A database of a file's own, which is removed after its tests: what is in it need not be sound. */
export async function ownDatabase(name: string): Promise<TestDatabase> {
  const adminUrl = process.env.TEST_MYSQL_ADMIN_URL;
  if (adminUrl === undefined) throw new Error('TEST_MYSQL_ADMIN_URL is not set');
  const own = await freshDatabase(
    adminUrl,
    `money_${name}_${process.env.MOCHA_WORKER_ID ?? '0'}_${process.pid}`,
  );
  return { ...own, remove: stoppedAfterTests(own.remove) };
}

/** An empty, migrated database of this name with an application user of the same name. What was there is lost. */
export async function freshDatabase(adminUrl: string, name: string): Promise<TestDatabase> {
  return openTestDatabase(await makeDatabase(adminUrl, name));
}

async function makeDatabase(adminUrl: string, name: string): Promise<Made> {
  const url = new URL(adminUrl);
  url.username = name;
  url.password = APP_PASSWORD;
  url.pathname = `/${name}`;
  const connection = await createConnection({ uri: adminUrl });
  try {
    await connection.query(`DROP DATABASE IF EXISTS ${name}`);
    await connection.query(`CREATE DATABASE ${name} CHARACTER SET utf8mb4`);
    await connection.query(`DROP USER IF EXISTS '${name}'@'%'`);
    await connection.query(`CREATE USER '${name}'@'%' IDENTIFIED BY '${APP_PASSWORD}'`);
  } finally {
    await connection.end();
  }
  await migrate({ adminUrl, url: url.href });
  const adminOfDatabase = new URL(adminUrl);
  adminOfDatabase.pathname = `/${name}`;
  return { name, url: url.href, adminUrl: adminOfDatabase.href };
}

/** One that is there already. */
export function openTestDatabase({ name, url, adminUrl }: Made): TestDatabase {
  let admin: Promise<Connection> | undefined;
  const database = openDatabase(url);
  const run = async (text: string): Promise<unknown> => {
    admin ??= createConnection({
      uri: adminUrl,
      supportBigNumbers: true,
      bigNumberStrings: true,
      dateStrings: true,
    });
    return (await (await admin).query(text))[0];
  };
  const close = async (): Promise<void> => {
    await database.close();
    await (await admin)?.end();
  };
  return {
    name,
    url,
    adminUrl,
    database,
    deps: { database, clock: systemClock },
    sql: async (text) => (await run(text)) as Record<string, unknown>[],
    change: async (text) => ((await run(text)) as { affectedRows: number }).affectedRows,
    close,
    remove: async () => {
      await run(`DROP DATABASE ${name}`);
      await run(`DROP USER '${new URL(url).username}'@'%'`);
      await close();
    },
  };
}

/** The application's connections, over another URL where a proxy stands between. */
export function openDatabase(
  url: string,
  options: Partial<ConstructorParameters<typeof Database>[0]> = {},
): Database {
  return new Database({
    url,
    readConnections: 4,
    transactionConnections: 6,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    ...options,
  });
}

/** Holds the rows of the SELECT until what was begun waits for them, does something meanwhile, and lets it go on. */
export async function heldUp<T>(
  db: TestDatabase,
  select: string,
  begin: () => Promise<T>,
  meanwhile: () => Promise<unknown>,
): Promise<T> {
  const other = await createConnection({ uri: db.adminUrl, database: db.name });
  await other.query('START TRANSACTION');
  await other.query(`${select} FOR UPDATE`);
  const held = begin();
  await untilLockIsAwaited(db);
  await meanwhile();
  await other.query('COMMIT');
  await other.end();
  return held;
}

/** Until some transaction in the database waits for a lock. */
export async function untilLockIsAwaited(db: TestDatabase): Promise<void> {
  const waiting = `SELECT 1 FROM information_schema.innodb_trx t JOIN information_schema.processlist p
    ON p.id=t.trx_mysql_thread_id WHERE p.db='${db.name}' AND t.trx_state='LOCK WAIT'`;
  // The server refreshes this only after a tenth of a second without a query of it.
  while ((await db.sql(waiting)).length === 0) await sleep(200);
}
