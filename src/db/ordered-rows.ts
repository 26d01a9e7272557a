import type { Table } from './table.js';

/** Rows `t` that an index yields in the order of created_at and id, directly or merged from several parts of it. */
export interface OrderedRows<Row> {
  readonly table: Table<Row>;
  /** The index, which continues with (created_at, id) after the columns that `within` and `oneOf` fix. */
  readonly index: string;
  /** SQL over the leading columns of the index, and bounds on created_at. */
  readonly within: readonly string[];
  /** SQL conditions of which each row meets exactly one, such as one for each status; absent: `within` is enough. */
  readonly oneOf?: readonly string[];
}

/** The newest `count` rows after `offset`: created_at and id. Reads no more than their sum in each part. */
export function newestSql<Row>(
  { table, index, within, oneOf = [] }: OrderedRows<Row>,
  count: number,
  offset = 0,
): string {
  const part = (conditions: readonly string[], most: string): string =>
    `SELECT t.created_at, t.id FROM ${table.name} t FORCE INDEX (${index}) WHERE ${conditions.join(' AND ')}
     ORDER BY t.created_at DESC, t.id DESC LIMIT ${most}`;
  const most = `${Math.trunc(count)} OFFSET ${Math.trunc(offset)}`;
  const [only, ...others] = oneOf;
  if (others.length === 0) return part(only === undefined ? within : [...within, only], most);
  const parts = oneOf.map((one) => `(${part([...within, one], `${Math.trunc(count + offset)}`)})`);
  return `${parts.join(' UNION ALL ')} ORDER BY created_at DESC, id DESC LIMIT ${most}`;
}
