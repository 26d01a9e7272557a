import type { Table } from './table.js';

/** Rows `t` that an index has in the order of created_at and id, or that are to be merged from several parts of one. */
export interface OrderedRows<Row> {
  readonly table: Table<Row>;
  /** The index that has the order (…, created_at, id) behind what `within` and `oneOf` fix. */
  readonly index: string;
  /** SQL over the columns that the index begins with, and bounds on created_at. */
  readonly within: readonly string[];
  /** SQL of which each row fulfils exactly one, such as each status; left out: `within` alone fixes the order. */
  readonly oneOf?: readonly string[];
}

/** SQL of created_at and id of the newest of them, so many behind the first `offset`. Looks at as many in each part, and at no more. */
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
