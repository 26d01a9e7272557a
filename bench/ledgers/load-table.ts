import { Readable } from 'node:stream';
import type { Connection } from 'mysql2/promise';
import type { Table } from '../../src/db/table.js';

const CHUNK_LETTERS = 1 << 16;

/**
 * Fills an empty table by LOAD DATA. Without the checks of uniqueness InnoDB sorts and builds each index once, which is
 * the faster the more rows there are; the rows must come without duplicates. Answers how many there were.
 */
export async function loadTable<Row>(admin: Connection, table: Table<Row>, rows: Iterable<Row>): Promise<number> {
  const binary = await binaryColumns(admin, table.name);
  const names = table.columns.map(({ name }) => name);
  const targets = names.map((name) => (binary.has(name) ? `@${name}` : name));
  const decoded = names.filter((name) => binary.has(name)).map((name) => `${name}=UNHEX(@${name})`);
  const counted = { rows: 0 };
  await admin.query({
    sql: `LOAD DATA LOCAL INFILE 'rows' INTO TABLE ${table.name} CHARACTER SET utf8mb4 (${targets.join(',')})
      ${decoded.length === 0 ? '' : `SET ${decoded.join(',')}`}`,
    infileStreamFactory: () => Readable.from(chunks(table, rows, counted)),
  });
  await admin.query('COMMIT');
  await admin.query(`ANALYZE TABLE ${table.name}`);
  return counted.rows;
}

async function binaryColumns(admin: Connection, table: string): Promise<ReadonlySet<string>> {
  const [rows] = await admin.query(
    `SELECT column_name AS name FROM information_schema.columns
     WHERE table_schema=DATABASE() AND table_name=? AND data_type IN ('binary','varbinary')`,
    [table],
  );
  return new Set((rows as { name: string }[]).map(({ name }) => name));
}

function* chunks<Row>(table: Table<Row>, rows: Iterable<Row>, counted: { rows: number }): Generator<Buffer> {
  let text = '';
  for (const row of rows) {
    counted.rows += 1;
    const record = row as Readonly<Record<string, unknown>>;
    text += `${table.columns.map(({ property, column }) => field(column.literal(record[property]))).join('\t')}\n`;
    if (text.length < CHUNK_LETTERS) continue;
    yield Buffer.from(text);
    text = '';
  }
  yield Buffer.from(text);
}

/** A literal of SQL as LOAD DATA wants it: bytes as hex, text without quotes (its escapes are the same), NULL as \N. */
function field(literal: string): string {
  if (literal === 'NULL') return '\\N';
  if (literal.startsWith("X'")) return literal.slice(2, -1);
  return literal.startsWith("'") ? literal.slice(1, -1) : literal;
}
