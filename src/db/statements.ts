import type { AmountRange } from '../core/amount.js';
import type { TimePosition } from '../core/page.js';
import { string, time, uuid } from './columns.js';
import type { Table } from './table.js';

/** SQL text made of literals. Only these functions and the column types turn values into SQL. */

/** Columns must equal these values (a list: one of them). Every property narrows further. */
export type Where<Row> = { readonly [K in keyof Row]?: Row[K] | readonly Row[K][] };

export interface SelectOptions<Row> {
  readonly orderBy?: readonly (keyof Row & string)[];
  readonly forUpdate?: boolean;
}

/** Omits columns that are NULL in all rows, so that the server need not parse them. */
export function insertSql<Row>(table: Table<Row>, rows: readonly Row[]): string {
  const records = rows as readonly Readonly<Record<string, unknown>>[];
  return insertOf(
    table,
    table.columns.filter(
      ({ property, column }) => !column.isNullable || records.some((row) => row[property] !== null),
    ),
    records,
  );
}

/** Returns the statement that `build` makes of the rows, or none without rows. */
export function sqlFor<Row>(
  rows: readonly Row[],
  build: (rows: readonly Row[]) => string,
): string[] {
  return rows.length === 0 ? [] : [build(rows)];
}

function insertOf<Row>(
  { name }: Table<Row>,
  columns: Table<Row>['columns'],
  records: readonly Readonly<Record<string, unknown>>[],
): string {
  let values = '';
  for (const record of records) {
    let row = '';
    for (const { property, column } of columns)
      row += (row === '' ? '' : ',') + column.literal(record[property]);
    values += `${values === '' ? '' : ','}(${row})`;
  }
  return `INSERT INTO ${name} (${columns.map((column) => column.name).join(',')}) VALUES ${values}`;
}

/** Inserts, or if the primary key exists sets the named columns to the row's values. */
export function upsertSql<Row>(
  table: Table<Row>,
  rows: readonly Row[],
  set: readonly (keyof Row & string)[],
): string {
  const records = rows as readonly Readonly<Record<string, unknown>>[];
  return `${insertOf(table, table.columns, records)} ${onDuplicateSql(table, set)}`;
}

/** Upserts rows given as SQL, each in parentheses with every column in the table's order. */
export function upsertValuesSql<Row>(
  table: Table<Row>,
  values: readonly string[],
  set: readonly (keyof Row & string)[],
): string {
  return `INSERT INTO ${table.name} (${columnList(table)}) VALUES ${values.join(',')} ${onDuplicateSql(table, set)}`;
}

function onDuplicateSql<Row>(table: Table<Row>, set: readonly (keyof Row & string)[]): string {
  const assignments = set
    .map((property) => table.column(property).name)
    .map((name) => `${name}=VALUES(${name})`);
  return `ON DUPLICATE KEY UPDATE ${assignments.join(',')}`;
}

export function updateSql<Row>(table: Table<Row>, set: Partial<Row>, where: Where<Row>): string {
  const assignments = Object.entries(set).map(([property, value]) => {
    const { name, column } = table.column(property as keyof Row & string);
    return `${name}=${column.literal(value)}`;
  });
  return `UPDATE ${table.name} SET ${assignments.join(',')}${whereSql(table, where)}`;
}

/** Returns a DELETE. An empty `where` gives a syntax error rather than deleting every row. */
export function deleteSql<Row>(table: Table<Row>, where: Where<Row>): string {
  return `DELETE FROM ${table.name} WHERE ${equalsSql(table, where)}`;
}

export function selectSql<Row>(
  table: Table<Row>,
  where: Where<Row>,
  options: SelectOptions<Row> = {},
): string {
  const order = options.orderBy?.map((property) => table.column(property).name).join(',');
  return (
    `SELECT ${columnList(table)} FROM ${table.name}${whereSql(table, where)}` +
    (order === undefined ? '' : ` ORDER BY ${order}`) +
    (options.forUpdate === true ? ' FOR UPDATE' : '')
  );
}

export function columnList<Row>(table: Table<Row>, alias = ''): string {
  return table.columns
    .map((column) => (alias === '' ? column.name : `${alias}.${column.name}`))
    .join(',');
}

export function literal<Row, K extends keyof Row & string>(
  table: Table<Row>,
  property: K,
  value: Row[K],
): string {
  return table.column(property).column.literal(value);
}

export function literals<Row, K extends keyof Row & string>(
  table: Table<Row>,
  property: K,
  values: Iterable<Row[K]>,
): string {
  const { column } = table.column(property);
  return Array.from(values, (value) => column.literal(value)).join(',');
}

export function equalsSql<Row>(table: Table<Row>, where: Where<Row>): string {
  const conditions = Object.entries(where).map(([property, value]) => {
    const { name, column } = table.column(property as keyof Row & string);
    if (!Array.isArray(value))
      return value === null ? `${name} IS NULL` : `${name}=${column.literal(value)}`;
    return value.length === 0
      ? 'FALSE'
      : `${name} IN (${value.map((one) => column.literal(one)).join(',')})`;
  });
  return conditions.join(' AND ');
}

function whereSql<Row>(table: Table<Row>, where: Where<Row>): string {
  return Object.keys(where).length === 0 ? '' : ` WHERE ${equalsSql(table, where)}`;
}

/** Returns the condition for rows older than this position, in a list by `created_at` and `id`. */
export function olderSql(alias: string, { createdAt, id }: TimePosition): string {
  const at = time.literal(createdAt);
  return `${alias}.created_at<=${at} AND (${alias}.created_at<${at} OR ${alias}.id<${uuid.literal(id)})`;
}

/** Returns the condition that an amount, in columns such as `t.asset` and `t.raw`, is in a range. */
export function amountsSql(asset: string, raw: string, ranges: readonly AmountRange[]): string {
  const within = ranges.map(
    (range) =>
      `${asset}=${string.literal(range.asset)} AND ${raw} BETWEEN ${range.least} AND ${range.most}`,
  );
  return `(${['FALSE', ...within].join(' OR ')})`;
}

/** Compares without accents and case, for which no index helps. */
export function likeSql(textSql: string, before: '' | '%' | '% ', text: string): string {
  return `${textSql} COLLATE utf8mb4_general_ci LIKE ${patternSql(before, text)}`;
}

/** Returns the words of a text, each of which a filter matches by itself, so that their order is free. */
export function filterWords(text: string): readonly string[] {
  return text.split(/\s+/).filter((word) => word !== '');
}

/** Returns SQL conditions: the text has each of these words as a part. */
export function wordsSql(textSql: string, words: string): readonly string[] {
  return filterWords(words).map((word) => likeSql(textSql, '%', word));
}

/** Returns a pattern for `LIKE` that matches what follows `before` and begins with the text. */
export function patternSql(before: '' | '%' | '% ', text: string): string {
  return string.literal(`${before}${text.replace(/[\\%_]/g, '\\$&')}%`);
}
