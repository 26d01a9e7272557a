import { type Page, pageOf, type TimePosition } from '../core/pages.js';
import { time, uuid } from './columns.js';
import type { Reader } from './database.js';
import { newestSql, type OrderedRows } from './ordered-rows.js';
import { behindSql, columnList, knownValuesSql } from './statements.js';
import { parseRow } from './table.js';

/** The most rows that one page looks at, whatever it shows. */
const MAX_EXAMINED = 2_000;
/** Of what has an end, or had fewer than a page looks at: what came since is few. */
const ALL = Number.MAX_SAFE_INTEGER;

export interface VisibleList<Row> extends OrderedRows<Row> {
  /** SQL over the row `l` that says which of them are shown: other filters, and what the member may see. */
  readonly shown: readonly string[];
}

/**
 * A page of a list of which a caller may see a part, newest first. It looks at a bounded number of rows: where few of them
 * are shown a page may have fewer items than asked for, even none, and still go on. So the cost of a request does not
 * depend on how much there is that it may not see. What only a newer process can read is left out.
 */
export async function readVisible<Row extends TimePosition>(
  reader: Reader,
  list: VisibleList<Row>,
  before: TimePosition | null,
  limit: number,
): Promise<Page<Row>> {
  const { table } = list;
  const rows = before === null ? list : { ...list, within: [...list.within, behindSql('t', before)] };
  const read = async (of: OrderedRows<Row>, examined: number): Promise<Page<Row>> => {
    const found = await reader.query(
      `SELECT ${columnList(table, 'l')} FROM (${newestSql(of, examined)}) p
       STRAIGHT_JOIN ${table.name} l FORCE INDEX (PRIMARY) ON l.id=p.id
       WHERE ${[knownValuesSql(table, 'l'), ...list.shown].join(' AND ')} ORDER BY p.created_at DESC, p.id DESC LIMIT ${limit + 1}`,
    );
    return pageOf(
      found.map((row) => parseRow(table, row)),
      limit,
    );
  };
  // Mostly all are shown, and then these are enough.
  const first = await read(rows, limit + 1);
  if (first.next !== null) return first;
  // The page's end is found before the page is read, and read up to as a position: rows that come or leave in between move
  // what is counted, and the next page would begin too early or too late.
  const [last] = await reader.query(newestSql(rows, 1, MAX_EXAMINED - 1));
  if (last === undefined) return read(rows, ALL);
  const end = { createdAt: time.parse(last.created_at), id: uuid.parse(last.id) };
  const until = `t.created_at>=${time.literal(end.createdAt)} AND NOT (${behindSql('t', end)})`;
  const page = await read({ ...rows, within: [...rows.within, until] }, ALL);
  return { ...page, next: page.next ?? end };
}
