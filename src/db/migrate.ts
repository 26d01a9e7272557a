import { hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import 'reflect-metadata';
import {
  type Connection,
  type ConnectionOptions,
  createConnection,
  type RowDataPacket,
} from 'mysql2/promise';
import {
  DataSource,
  EntitySchema,
  type EntitySchemaColumnOptions,
  type EntitySchemaIndexOptions,
  type QueryRunner,
} from 'typeorm';
import { z } from 'zod';
import * as column from './columns.js';
import { migrations } from '../../migrations/index.js';
import { newId } from '../core/ids.js';
import { errnoOf, LOCK_WAIT_TIMEOUT } from './failures.js';
import { checkRights, GRANTS, MEMBERS_RIGHT, MEMBERS_TABLE } from './grants.js';
import { PrimarySearch } from './primary.js';
import { connectOptions, mysqlAddress, MysqlTls, type TlsMaterial } from './servers.js';
import { TABLES } from './entities/index.js';
import { snakeCase, type Table } from './table.js';

interface MigrateOptions {
  readonly adminUrl: string;
  readonly url: string;
  readonly tls?: TlsMaterial | null;
  /** Seconds after which a statement that waits for a lock is retried. 5 by default. */
  readonly lockWaitS?: number;
  /** Called for each statement before it is retried. */
  readonly onWait?: (statement: string) => void;
  /**
   * Called if the ledger was closed, because the database has tenants but the application's user has
   * no rights on it yet: it is a copy.
   */
  readonly onClosed?: () => void;
}

/**
 * Migrates the schema, then grants the application's user its rights. May be repeated, interrupted,
 * and run while the service runs. Throws ExcessiveRights, ForeignSchema, MigrationUnderWay.
 */
export async function migrate({
  adminUrl,
  url,
  tls = null,
  lockWaitS = LOCK_WAIT_S,
  onWait = () => undefined,
  onClosed = () => undefined,
}: MigrateOptions): Promise<readonly string[]> {
  const { database } = mysqlAddress(url);
  if (!/^[A-Za-z0-9_]{1,64}$/.test(database))
    throw new Error('MYSQL_URL must end in /<database>, a plain name');
  const ssl = tls === null ? null : new MysqlTls(tls);
  const admin = { ...mysqlAddress(adminUrl), database };
  const server = await new PrimarySearch(admin, ssl, () => undefined).locate(FIND_PRIMARY_MS);
  const source = new DataSource({
    type: 'mysql',
    ...server,
    username: admin.user,
    password: admin.password,
    database,
    ...(ssl === null ? {} : { ssl: ssl.ssl }),
    charset: 'utf8mb4_bin',
    timezone: 'Z',
    entities: [...ENTITY_SCHEMAS],
    migrations: [...migrations],
    migrationsTableName: MIGRATIONS_TABLE,
    // MySQL commits at every change of the schema anyway.
    migrationsTransactionMode: 'none',
    // The lock and the lock wait timeout belong to the connection.
    extra: { connectionLimit: 1 },
  });
  await source.initialize();
  try {
    await takeMigrationLock(source, database);
    await limitLockWaits(source, lockWaitS, onWait);
    await refuseForeignSchema(source, database);
    const done = await source.runMigrations();
    const app = mysqlAddress(url);
    const asApplication = (name: string): ConnectionOptions =>
      connectOptions({ ...app, database: name }, server, ssl);
    // The application's user may not even see the database before its first grant.
    const grantee = await onConnection(asApplication(''), currentUser);
    if ((await isUnknownUser(asApplication(database))) && (await closeCopy(source))) onClosed();
    for (const [table, rights] of Object.entries(GRANTS))
      await source.query(`GRANT ${rights} ON \`${database}\`.\`${table}\` TO ${grantee}`);
    if (await isGroupMember(source))
      await source.query(`GRANT ${MEMBERS_RIGHT} ON ${MEMBERS_TABLE} TO ${grantee}`);
    await onConnection(asApplication(database), assertRights);
    return done.map((migration) => migration.name);
  } finally {
    await source.destroy();
  }
}

/** Returns whether the application's user cannot see the database: the service never ran on it. */
async function isUnknownUser(options: ConnectionOptions): Promise<boolean> {
  try {
    await onConnection(options, (connection) => connection.query('SELECT 1'));
    return false;
  } catch (failure) {
    if (errnoOf(failure) === DATABASE_ACCESS_DENIED) return true;
    throw failure;
  }
}

const WRITE_RESULT = z.object({ affectedRows: z.number() });

/** Closes the ledger of a database that has tenants but never ran the service. Returns whether it did. */
async function closeCopy(source: DataSource): Promise<boolean> {
  const written: unknown = await source.query(
    `INSERT INTO restores (id, noticed_by, reason, began_at)
     SELECT ${column.uuid.literal(newId())}, 'migration', 'it has tenants, but the service never ran on it', UTC_TIMESTAMP(3) FROM DUAL
     WHERE EXISTS (SELECT 1 FROM tenants) AND NOT EXISTS (SELECT 1 FROM (SELECT * FROM restores) r WHERE r.finished_at IS NULL)`,
  );
  return WRITE_RESULT.parse(written).affectedRows > 0;
}

async function isGroupMember(source: DataSource): Promise<boolean> {
  const rows = await source.query<unknown[]>(
    "SHOW GLOBAL VARIABLES LIKE 'group_replication_group_name'",
  );
  return rows.length > 0;
}

/** The database has migrations that this release does not have. */
export class ForeignSchema extends Error {
  override name = 'ForeignSchema';
}

async function refuseForeignSchema(source: DataSource, database: string): Promise<void> {
  const tables = await source.query<unknown[]>(`SHOW TABLES LIKE '${MIGRATIONS_TABLE}'`);
  if (tables.length === 0) return;
  const known = new Set(migrations.map(({ name }) => name));
  const rows = await source.query<{ name: string }[]>(`SELECT name FROM ${MIGRATIONS_TABLE}`);
  const foreign = rows.find(({ name }) => !known.has(name));
  if (foreign !== undefined)
    throw new ForeignSchema(
      `${database} has the schema of another release (${foreign.name}). Use an empty database. In a checkout, run npm start -- --fresh`,
    );
}

/** MySQL's error for a database that the user may not use. */
const DATABASE_ACCESS_DENIED = 1044;
const MIGRATIONS_TABLE = 'schema_migrations';
const LOCK_WAIT_S = 5;
/** Long enough for a group of servers to elect a primary. */
const FIND_PRIMARY_MS = 10_000;

async function onConnection<T>(
  options: ConnectionOptions,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  const connection = await createConnection(options);
  try {
    return await work(connection);
  } finally {
    await connection.end();
  }
}

/** Returns the account that matched the application's user, in GRANT's form: 'name'@'host'. */
async function currentUser(connection: Connection): Promise<string> {
  const [[row]] = await connection.query<RowDataPacket[]>('SELECT CURRENT_USER() AS user');
  const user = String(row?.user);
  const at = user.lastIndexOf('@');
  return `${connection.escape(user.slice(0, at))}@${connection.escape(user.slice(at + 1))}`;
}

async function assertRights(connection: Connection): Promise<void> {
  // Makes SHOW GRANTS quote names with backquotes.
  await connection.query("SET SESSION sql_mode=''");
  await checkRights({ query: async (sql) => (await connection.query<RowDataPacket[]>(sql))[0] });
}

const MIGRATION_LOCK_S = 900;
/** Pause before a retry, in which statements queued behind the migration run. */
const RETRY_PAUSE_MS = 1_000;

/** Another process is migrating the same database, and did not finish in time. */
export class MigrationUnderWay extends Error {
  override name = 'MigrationUnderWay';
}

/** Takes the lock on the database's migrations for this connection. Throws MigrationUnderWay. */
async function takeMigrationLock(source: DataSource, database: string): Promise<void> {
  // A lock's name has at most 64 characters, and a database's name may be as long.
  const name = hash('sha256', `migrations of ${database}`).slice(0, 40);
  const rows: unknown = await source.query(
    `SELECT GET_LOCK('${name}', ${MIGRATION_LOCK_S}) AS is_locked`,
  );
  if (z.array(z.object({ is_locked: z.coerce.number() })).parse(rows)[0]?.is_locked === 1) return;
  throw new MigrationUnderWay(
    `another process is migrating ${database}, and did not finish within ${MIGRATION_LOCK_S} s`,
  );
}

/**
 * Limits how long a migration waits for a table, because later statements queue behind it. Repeats
 * the statement until it succeeds, because the migration's earlier statements cannot be undone.
 */
async function limitLockWaits(
  source: DataSource,
  lockWaitS: number,
  onWait: (statement: string) => void,
): Promise<void> {
  await source.query(
    `SET SESSION lock_wait_timeout=${lockWaitS}, SESSION innodb_lock_wait_timeout=${lockWaitS}`,
  );
  const createRunner = source.createQueryRunner.bind(source);
  source.createQueryRunner = (mode) => retryLockWaits(createRunner(mode), onWait);
}

function retryLockWaits(runner: QueryRunner, onWait: (statement: string) => void): QueryRunner {
  const query = runner.query.bind(runner);
  runner.query = async (...call: Parameters<QueryRunner['query']>) => {
    for (;;)
      try {
        return await query(...call);
      } catch (failure) {
        if (errnoOf(failure) !== LOCK_WAIT_TIMEOUT) throw failure;
        onWait(call[0]);
        await sleep(RETRY_PAUSE_MS);
      }
  };
  return runner;
}

/** The tables as TypeORM describes them, for migrations only. */
export const ENTITY_SCHEMAS: readonly EntitySchema[] = TABLES.map(entitySchemaOf);

type Columns = Table<unknown>['columns'];

function entitySchemaOf({ name, columns, key, unique, indexes }: Table<unknown>): EntitySchema {
  return new EntitySchema({
    name,
    tableName: name,
    columns: Object.fromEntries(
      columns.map((bound) => [bound.property, columnOf(bound, key.includes(bound.property))]),
    ),
    indices: [...indexesOf(unique, { isUnique: true }), ...indexesOf(indexes, { isUnique: false })],
  });
}

function columnOf(
  { name, column }: Columns[number],
  isPrimary: boolean,
): EntitySchemaColumnOptions {
  const { type, length, values, isNullable, isAscii } = column;
  return {
    type,
    name,
    primary: isPrimary,
    nullable: isNullable,
    ...(length !== null && { length }),
    ...(type === 'datetime' && { precision: 3 }),
    ...(type === 'enum' && values !== null && { enum: [...values] }),
    ...(isAscii && { charset: 'ascii', collation: 'ascii_bin' }),
  };
}

function indexesOf(
  indexes: Table<unknown>['indexes'],
  { isUnique }: { readonly isUnique: boolean },
): EntitySchemaIndexOptions[] {
  return Object.entries(indexes).map(([name, columns]) => ({
    name: snakeCase(name),
    columns: [...columns],
    unique: isUnique,
  }));
}
