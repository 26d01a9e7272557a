import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { DataSource } from 'typeorm';
import { migrations } from '../../migrations/index.js';
import { migrate } from '../../src/db/migrate.js';
import type { TestDatabase } from './database.js';
import { ROOT } from './service-process.js';

/** The rows of a database of release 1.0.0 in which much waits, as INSERT statements. Its schema is the first migration's. */
const DUMP = join(ROOT, 'test/releases/1.0.0.sql.gz');
const ROWS_EACH = 200;

/** Writes every row of the database to test/releases/1.0.0.sql.gz. */
export async function recordRelease({ adminUrl }: TestDatabase): Promise<void> {
  const connection = await createConnection({
    uri: adminUrl,
    ...{ supportBigNumbers: true, bigNumberStrings: true, dateStrings: true, charset: 'utf8mb4' },
    typeCast: (field, next) => (field.type === 'JSON' ? field.string() : next()),
  });
  try {
    const lines: string[] = [];
    for (const table of await tablesOf(connection.query.bind(connection))) {
      const [rows] = await connection.query<RowDataPacket[]>(`SELECT * FROM ${table}`);
      for (let at = 0; at < rows.length; at += ROWS_EACH)
        lines.push(
          insertOf(table, rows.slice(at, at + ROWS_EACH), (value) => connection.escape(value)),
        );
    }
    writeFileSync(DUMP, gzipSync(`${lines.join('\n')}\n`, { level: 9 }));
  } finally {
    await connection.end();
  }
}

/** Replaces the database by that of release 1.0.0 with all that waited, then migrates it as an upgrade does. */
export async function loadRelease({ name, url, adminUrl, sql }: TestDatabase): Promise<void> {
  await sql(`DROP DATABASE ${name}`);
  await sql(`CREATE DATABASE ${name} CHARACTER SET utf8mb4`);
  await sql(`USE ${name}`);
  const source = new DataSource({
    ...{ type: 'mysql', url: adminUrl, charset: 'utf8mb4_bin' },
    ...{ migrations: migrations.slice(0, 1), migrationsTableName: 'schema_migrations' },
    migrationsTransactionMode: 'none',
    extra: { connectionLimit: 1 },
  });
  await source.initialize();
  try {
    await source.runMigrations();
    await source.query('SET SESSION foreign_key_checks=0');
    for (const table of await tablesOf((text) => source.query(text).then((rows) => [rows])))
      await source.query(`DELETE FROM ${table}`);
    for (const line of gunzipSync(readFileSync(DUMP)).toString('utf8').trimEnd().split('\n'))
      await source.query(line);
  } finally {
    await source.destroy();
  }
  await migrate({ adminUrl, url });
}

type Query = (text: string) => Promise<unknown[]>;

async function tablesOf(query: Query): Promise<string[]> {
  const [rows] = await query('SHOW TABLES');
  const names = (rows as object[]).map((row) => String(Object.values(row)[0]));
  return names.filter((table) => table !== 'schema_migrations');
}

/** A line breaks in no value: `escape` writes it as `\n`. */
function insertOf(
  table: string,
  rows: readonly RowDataPacket[],
  escape: (value: unknown) => string,
): string {
  const columns = Object.keys(rows[0]!).map((column) => `\`${column}\``);
  const values = rows.map((row) => `(${Object.values(row).map(escape).join(',')})`);
  return `INSERT INTO ${table} (${columns.join(',')}) VALUES ${values.join(',')}`;
}
