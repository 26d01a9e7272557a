import type { Uuid } from '../core/ids.js';
import { uuid } from '../db/columns.js';
import type { Reader, StoredRow } from '../db/database.js';
import { columnList, literal } from '../db/statements.js';
import { parseRow, type Table } from '../db/table.js';
import type { AuditRun } from './run.js';

export type Visit<Row> = (reader: Reader, rows: readonly Row[]) => Promise<void> | void;

/**
 * Walks rows in the order of a key, a slice at a time. `read` and `check` of a slice see the same snapshot, so they
 * compare data from one moment; between slices the ledger moves on.
 */
export async function walk<Row>(
  audit: AuditRun,
  size: number,
  read: (reader: Reader, after: Row | undefined) => Promise<readonly Row[]>,
  check: Visit<Row>,
): Promise<void> {
  const begun = audit.beginWalk<Row>();
  if (begun === null) return;
  let { after } = begun;
  for (;;) {
    const from = after;
    const rows = await audit.slice(async (reader) => {
      const slice = await read(reader, from);
      if (slice.length > 0) await check(reader, slice);
      return slice;
    });
    if (rows.length < size) return;
    after = rows.at(-1);
    await audit.restAfter(after);
  }
}

/** Walks a table in the order of its primary key, of one column or two; of one tenant, its own rows. */
export function walkTable<Row extends object>(
  audit: AuditRun,
  table: Table<Row>,
  size: number,
  check: Visit<Row>,
): Promise<void> {
  const key = table.key as readonly (keyof Row & string)[];
  const names = key.map((property) => table.column(property).name);
  const [first = '', second] = names;
  const read = (reader: Reader, after: Row | undefined): Promise<readonly Row[]> => {
    const [one = '', other = ''] =
      after === undefined ? [] : key.map((of) => literal(table, of, after[of]));
    const behind =
      second === undefined
        ? `${first}>${one}`
        : afterKey(first, second, { first: one, second: other });
    const conditions = [...(after === undefined ? [] : [behind]), ...audit.own('tenant_id')];
    return reader.list(
      table,
      `FORCE INDEX (PRIMARY)${whereAll(conditions)} ORDER BY ${names.join(', ')} LIMIT ${size}`,
    );
  };
  return walk(audit, size, read, check);
}

/** SQL for what follows a position in a key of two columns, in a form that every optimizer turns into key ranges. */
export function afterKey(
  first: string,
  second: string,
  at: { first: string; second: string },
): string {
  return `((${first}=${at.first} AND ${second}>${at.second}) OR ${first}>${at.first})`;
}

export function whereAll(conditions: readonly string[]): string {
  return conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`;
}

/** The rows with these ids, by id. */
export async function byId<Row extends { readonly id: Uuid }>(
  reader: Reader,
  table: Table<Row>,
  ids: Iterable<Uuid>,
): Promise<ReadonlyMap<Uuid, Row>> {
  const rows = await rowsOf(reader, columnList(table), table.name, ids);
  return new Map(rows.map((row) => parseRow(table, row)).map((row) => [row.id, row]));
}

/** Whose the rows with these ids are, by id: many times cheaper than the rows. */
export async function ownersById(
  reader: Reader,
  table: Pick<Table<{ readonly id: Uuid; readonly tenantId: Uuid }>, 'name'>,
  ids: Iterable<Uuid>,
): Promise<ReadonlyMap<Uuid, Uuid>> {
  const rows = await rowsOf(reader, 'id, tenant_id', table.name, ids);
  return new Map(rows.map((row) => [uuid.parse(row.id), uuid.parse(row.tenant_id)]));
}

async function rowsOf(
  reader: Reader,
  columns: string,
  table: string,
  ids: Iterable<Uuid>,
): Promise<readonly StoredRow[]> {
  const wanted = [...new Set(ids)];
  const found: StoredRow[] = [];
  for (let from = 0; from < wanted.length; from += ROWS_A_SLICE) {
    const list = idList(wanted.slice(from, from + ROWS_A_SLICE));
    found.push(...(await reader.query(`SELECT ${columns} FROM ${table} WHERE id IN (${list})`)));
  }
  return found;
}

/** Fewer than a thousand: MariaDB turns a longer IN into a table and then reads the other tables in full. */
export const ROWS_A_SLICE = 900;

/** Distinct ids for an IN, which finds nothing when there are none. */
export function idList(ids: Iterable<Uuid>): string {
  const distinct = Array.from(new Set(ids), (id) => uuid.literal(id));
  return distinct.length === 0 ? 'NULL' : distinct.join(',');
}
