import { type Page, pageOf, type TimePosition } from '../core/pages.js';
import { time, uuid } from './columns.js';
import type { Reader } from './database.js';
import { behindSql, columnList } from './statements.js';
import { parseRow, type Table } from './table.js';

/** The most rows that one page looks at, whatever it shows. */
const MOST_EXAMINED = 2_000;

export interface VisibleList<Row> {
  readonly table: Table<Row>;
  /** The index that has the order (…, created_at, id) behind what `within` fixes. */
  readonly index: string;
  /** SQL over the columns that the index begins with, and bounds on created_at. */
  readonly within: readonly string[];
  /** SQL over the row `l` that says which of them are shown: other filters, and what the member may see. */
  readonly shown: readonly string[];
}

/**
 * A page of a list of which a caller may see a part, newest first. It looks at a bounded number of rows: where few of them
 * are shown a page may have fewer items than asked for, even none, and still go on. So the cost of a request does not
 * depend on how much there is that it may not see.
 */
export async function readVisible<Row extends TimePosition>(
  reader: Reader,
  list: VisibleList<Row>,
  before: TimePosition | null,
  limit: number,
): Promise<Page<Row>> {
  const { table, index } = list;
  const within = [...list.within, ...(before === null ? [] : [behindSql('t', before)])];
  const examined = (columns: string): string =>
    `SELECT ${columns} FROM ${table.name} t FORCE INDEX (${index}) WHERE ${within.join(' AND ')}
     ORDER BY t.created_at DESC, t.id DESC`;
  const rows = await reader.query(
    `SELECT ${columnList(table, 'l')} FROM (${examined(columnList(table, 't'))} LIMIT ${MOST_EXAMINED}) l
     WHERE ${['TRUE', ...list.shown].join(' AND ')} ORDER BY l.created_at DESC, l.id DESC LIMIT ${limit + 1}`,
  );
  const page = pageOf(
    rows.map((row) => parseRow(table, row)),
    limit,
  );
  if (page.next !== null) return page;
  const [last] = await reader.query(`${examined('t.created_at, t.id')} LIMIT 1 OFFSET ${MOST_EXAMINED - 1}`);
  if (last === undefined) return page;
  return { ...page, next: { createdAt: time.parse(last.created_at), id: uuid.parse(last.id) } };
}
