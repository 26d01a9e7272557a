import { type Page, pageOf, type TimePosition } from '../core/page.js';
import { time, uuid } from './columns.js';
import type { Reader } from './database.js';
import { olderSql, columnList } from './statements.js';
import { parseRow, type Table } from './table.js';

/** Rows `t` in the order of created_at and id, read from one or more ranges of an index. */
export interface OrderedRows<Row> {
  readonly table: Table<Row>;
  /** A table of entries for rows of `table`, if it has the index. */
  readonly entries?: Pick<Table<unknown>, 'name'>;
  /** Index of the columns in `within` and `oneOf`, followed by created_at and id. */
  readonly index: string;
  /** SQL conditions on the leading columns of the index, and bounds on created_at. */
  readonly within: readonly string[];
  /** SQL conditions of which each row meets exactly one, for example one for each status. */
  readonly oneOf?: readonly string[];
}

const MAX_EXAMINED = 2_000;

interface VisibleList<Row> extends OrderedRows<Row> {
  /** SQL conditions on the row `l`: filters that the index does not have, and the member's rights. */
  readonly filters: readonly string[];
  /** Limit of the rows that one page examines, by default 2,000. */
  readonly examined?: number;
}

/**
 * Returns a page, newest first, of the rows that a caller may see. Examines a bounded number of
 * rows, so a page may have few or no items although the list continues.
 */
export async function readVisible<Row extends TimePosition>(
  reader: Reader,
  list: VisibleList<Row>,
  before: TimePosition | null,
  limit: number,
): Promise<Page<Row>> {
  const { table, examined = MAX_EXAMINED } = list;
  const rows =
    before === null ? list : { ...list, within: [...list.within, olderSql('t', before)] };
  const conditions = ['l.id=p.id', ...list.filters].join(' AND ');
  const read = async (by: Reader, examinedSql: string): Promise<Page<Row>> => {
    const found = await by.query(
      `SELECT ${columnList(table, 'l')} FROM (${examinedSql}) p
       STRAIGHT_JOIN ${table.name} l FORCE INDEX (PRIMARY) ON ${conditions}
       ORDER BY p.created_at DESC, p.id DESC LIMIT ${limit + 1}`,
    );
    return pageOf(
      found.map((row) => parseRow(table, row)),
      limit,
    );
  };
  // Usually the caller may see every row, so the first rows fill the page.
  const first = await read(reader, newestSql(rows, limit + 1));
  if (first.next !== null) return first;
  const { searches } = reader;
  // Finds the page's end before it reads up to that position, because rows that appear or disappear
  // in between would shift a count.
  const [last] = await searches.query(newestSql(rows, 1, examined - 1));
  // Fewer rows than `examined`, so all of them can be read.
  if (last === undefined) return read(searches, allSql(rows));
  const end = { createdAt: time.parse(last.created_at), id: uuid.parse(last.id) };
  const until = `t.created_at>=${time.literal(end.createdAt)} AND NOT (${olderSql('t', end)})`;
  const page = await read(searches, allSql({ ...rows, within: [...rows.within, until] }));
  return { ...page, next: page.next ?? end };
}

/** Returns SQL for `created_at` and `id` of the newest `count` rows after the first `offset`. */
export function newestSql<Row>(rows: OrderedRows<Row>, count: number, offset = 0): string {
  const order = (alias: string, range: string): string =>
    ` ORDER BY ${alias}created_at DESC, ${alias}id DESC LIMIT ${range}`;
  const range = `${Math.trunc(count)} OFFSET ${Math.trunc(offset)}`;
  const parts = partsOf(rows);
  if (parts.length === 1) return parts.join('') + order('t.', range);
  const ordered = parts.map((part) => `(${part}${order('t.', `${Math.trunc(count + offset)}`)})`);
  return ordered.join(' UNION ALL ') + order('', range);
}

function allSql<Row>(rows: OrderedRows<Row>): string {
  return partsOf(rows).join(' UNION ALL ');
}

function partsOf<Row>({
  table,
  entries = table,
  index,
  within,
  oneOf = [],
}: OrderedRows<Row>): string[] {
  const part = (conditions: readonly string[]): string =>
    `SELECT t.created_at, t.id FROM ${entries.name} t FORCE INDEX (${index}) WHERE ${conditions.join(' AND ')}`;
  return oneOf.length === 0 ? [part(within)] : oneOf.map((one) => part([...within, one]));
}
