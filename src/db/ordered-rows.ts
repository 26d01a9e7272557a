import type { Table } from './table.js';

/** Rows `t` that an index yields in the order of created_at and id, directly or merged from several parts of it. */
export interface OrderedRows<Row> {
  readonly table: Table<Row>;
  /** The index, which continues with (created_at, id) after the columns that `within` and `oneOf` fix. */
  readonly index: string;
  /** SQL over the leading columns of the index, and bounds on created_at. */
  readonly within: readonly string[];
  /**
   * SQL conditions of which each row meets exactly one, such as one for each status; absent: `within` alone fixes the
   * order.
   */
  readonly oneOf?: readonly string[];
}

/**
 * SQL for created_at and id of the newest `count` rows after the first `offset`. Reads no more than their sum in each
 * part.
 */
export function newestSql<Row>(rows: OrderedRows<Row>, count: number, offset = 0): string {
  const order = (alias: string, most: string): string =>
    ` ORDER BY ${alias}created_at DESC, ${alias}id DESC LIMIT ${most}`;
  const most = `${Math.trunc(count)} OFFSET ${Math.trunc(offset)}`;
  const parts = partsOf(rows);
  if (parts.length === 1) return parts.join('') + order('t.', most);
  const ordered = parts.map((part) => `(${part}${order('t.', `${Math.trunc(count + offset)}`)})`);
  return ordered.join(' UNION ALL ') + order('', most);
}

/** SQL for created_at and id of all, in no order: sorting them here would only be repeated by whoever joins them. */
export function allSql<Row>(rows: OrderedRows<Row>): string {
  return partsOf(rows).join(' UNION ALL ');
}

function partsOf<Row>({ table, index, within, oneOf = [] }: OrderedRows<Row>): string[] {
  const part = (conditions: readonly string[]): string =>
    `SELECT t.created_at, t.id FROM ${table.name} t FORCE INDEX (${index}) WHERE ${conditions.join(' AND ')}`;
  return oneOf.length === 0 ? [part(within)] : oneOf.map((one) => part([...within, one]));
}
