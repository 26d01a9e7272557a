import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Connection, createConnection, type ResultSetHeader } from 'mysql2/promise';
import type { Table } from '../../src/db/table.js';

const CHUNK_LETTERS = 1 << 16;
const MAX_UNSENT_BYTES = 1 << 20;

/** An administrator's connection. Its socket shows when the driver is ahead of the server, which reads more slowly. */
export interface Loader {
  readonly admin: Connection;
  readonly socket: Socket;
}

export async function openLoader(adminUrl: string): Promise<Loader> {
  const { hostname, port } = new URL(adminUrl);
  const socket = connect({ host: hostname, port: Number(port) });
  const admin = await createConnection({ uri: adminUrl, stream: socket });
  await admin.query('SET SESSION unique_checks=0, foreign_key_checks=0, autocommit=0');
  return { admin, socket };
}

/**
 * Fills an empty table by LOAD DATA. Without uniqueness checks InnoDB builds each index once from sorted entries, which
 * is much faster for many rows. The rows must have no duplicates.
 */
export async function loadTable<Row>(
  { admin, socket }: Loader,
  table: Table<Row>,
  rows: Iterable<Row>,
): Promise<void> {
  const binary = await binaryColumns(admin, table.name);
  const names = table.columns.map(({ name }) => name);
  const targets = names.map((name) => (binary.has(name) ? `@${name}` : name));
  const decoded = names.filter((name) => binary.has(name)).map((name) => `${name}=UNHEX(@${name})`);
  const [stored] = await admin.query<ResultSetHeader>({
    sql: `LOAD DATA LOCAL INFILE 'rows' INTO TABLE ${table.name} CHARACTER SET utf8mb4 (${targets.join(',')})
      ${decoded.length === 0 ? '' : `SET ${decoded.join(',')}`}`,
    infileStreamFactory: () => Readable.from(paceChunks(socket, chunks(table, rows))),
  });
  // With LOCAL the server drops or changes what does not fit, and only warns.
  if (stored.warningStatus > 0)
    throw new Error(`the rows of ${table.name} do not fit: ${stored.info}`);
  await admin.query('COMMIT');
  await admin.query(`ANALYZE TABLE ${table.name}`);
}

async function binaryColumns(admin: Connection, table: string): Promise<ReadonlySet<string>> {
  const [rows] = await admin.query(
    `SELECT column_name AS name FROM information_schema.columns
     WHERE table_schema=DATABASE() AND table_name=? AND data_type IN ('binary','varbinary')`,
    [table],
  );
  return new Set((rows as { name: string }[]).map(({ name }) => name));
}

/**
 * Yields chunks no faster than the server accepts them. Lets the loads of other tables run after each chunk, because
 * the server ends a connection that sends nothing for long.
 */
async function* paceChunks(socket: Socket, all: Iterable<Buffer>): AsyncGenerator<Buffer> {
  for (const chunk of all) {
    yield chunk;
    if (socket.writableLength > MAX_UNSENT_BYTES) await once(socket, 'drain');
    else await nextTurn();
  }
}

function* chunks<Row>(table: Table<Row>, rows: Iterable<Row>): Generator<Buffer> {
  let text = '';
  for (const row of rows) {
    const record = row as Readonly<Record<string, unknown>>;
    text += `${table.columns.map(({ property, column }) => field(column.literal(record[property]))).join('\t')}\n`;
    if (text.length < CHUNK_LETTERS) continue;
    yield Buffer.from(text);
    text = '';
  }
  // Nothing at all would end the load twice.
  if (text !== '') yield Buffer.from(text);
}

/** Converts a SQL literal to LOAD DATA's form: bytes as hex, text without quotes, NULL as \N. */
function field(literal: string): string {
  if (literal === 'NULL') return '\\N';
  if (literal.startsWith("X'")) return literal.slice(2, -1);
  return literal.startsWith("'") ? literal.slice(1, -1) : literal;
}
