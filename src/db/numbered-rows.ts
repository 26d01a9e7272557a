import type { Instant } from '../core/instant.js';
import { instant } from '../core/instant.js';
import * as column from './columns.js';
import type { Reader } from './database.js';

/** Rows numbered without gaps whose dates never decrease, so they need no index over dates. */
export interface NumberedRows {
  readonly table: string;
  /** SQL condition on the owner's column. The primary key is that column, then the number. */
  readonly owner: string;
  readonly number: string;
}

/** Numbers, both inclusive; empty if `last` is less than `first`. */
export interface NumberRange {
  readonly first: bigint;
  readonly last: bigint;
}

/** Returns the numbers of the rows in `range` dated from `from` to `to` inclusive, by binary search. */
export async function numbersWithin(
  reader: Reader,
  rows: NumberedRows,
  from: Instant | undefined,
  to: Instant | undefined,
  range: Partial<NumberRange> = {},
): Promise<NumberRange> {
  const [first, next] = await Promise.all([
    from === undefined
      ? endOf(reader, rows, range, 'first')
      : firstSince(reader, rows, from, range),
    to === undefined
      ? endOf(reader, rows, range, 'next')
      : firstSince(reader, rows, instant(to + 1), range),
  ]);
  return { first, last: next - 1n };
}

/** Returns the number of the first row dated `at` or later, or one past the last row. */
async function firstSince(
  reader: Reader,
  rows: NumberedRows,
  at: Instant,
  range: Partial<NumberRange>,
): Promise<bigint> {
  const { table, owner, number } = rows;
  const middle = '(h.low+h.high) DIV 2';
  const isEarlier = `r.created_at<${column.time.literal(at)}`;
  // A missing row counts as later, so the search always ends.
  const [row] = await reader.query(
    `WITH RECURSIVE halves (low, high) AS (
       SELECT ${endSql(rows, range, 'first')}, ${endSql(rows, range, 'next')}
       UNION ALL
       SELECT IF(${isEarlier}, ${middle}+1, h.low), IF(${isEarlier}, h.high, ${middle})
       FROM halves h LEFT JOIN ${table} r FORCE INDEX (PRIMARY) ON r.${owner} AND r.${number}=${middle} WHERE h.low<h.high)
     SELECT MAX(low) AS number FROM halves`,
  );
  return column.bigint.parse(row?.number);
}

async function endOf(
  reader: Reader,
  rows: NumberedRows,
  range: Partial<NumberRange>,
  end: 'first' | 'next',
): Promise<bigint> {
  const bound = end === 'first' ? range.first : range.last;
  if (bound !== undefined) return end === 'first' ? bound : bound + 1n;
  const [row] = await reader.query(`SELECT ${endSql(rows, range, end)} AS number`);
  return column.bigint.parse(row?.number);
}

/** Returns SQL for the smallest number, or one past the greatest, as a 64-bit integer. */
function endSql(
  { table, owner, number }: NumberedRows,
  range: Partial<NumberRange>,
  end: 'first' | 'next',
): string {
  const found = (which: 'MIN' | 'MAX'): string =>
    `(SELECT ${which}(r.${number}) FROM ${table} r FORCE INDEX (PRIMARY) WHERE r.${owner})`;
  return end === 'first'
    ? `CAST(${range.first ?? `COALESCE(${found('MIN')}, 1)`} AS SIGNED)`
    : `CAST(${range.last ?? `COALESCE(${found('MAX')}, 0)`} AS SIGNED)+1`;
}
