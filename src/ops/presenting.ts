import { type Instant, toRfc3339 } from '../core/instant.js';
import { type Account, accounts } from '../db/entities/parties.js';
import type { Table } from '../db/table.js';
import type { Fields, Value } from './output.js';

/** Columns that are shown unchanged: texts, figures, times. */
type Shown<Row> = {
  [K in keyof Row & string]: Row[K] extends string | number | boolean | bigint | null ? K : never;
}[keyof Row & string];

type Words<Text extends string> = Text extends `${infer First} ${infer Rest}`
  ? First | Words<Rest>
  : Text;

/**
 * Returns the fields of a row for operators: the columns of these properties, separated by spaces,
 * by their names in the table. Amounts and lists have fields of their own.
 */
export function rowFields<Row, Text extends string>(
  table: Table<Row>,
  row: Row,
  properties: Words<Text> extends Shown<Row> ? Text : never,
): Fields {
  return Object.fromEntries(
    properties.split(' ').map((property): [string, Value] => {
      const { name, column } = table.column(property as Shown<Row>);
      const value = row[property as Shown<Row>] as string | number | boolean | bigint | null;
      if (column.type === 'datetime') return [name, toRfc3339(value as Instant | null)];
      return [name, typeof value === 'bigint' ? value.toString() : value];
    }),
  );
}

export function accountFields(account: Account): Fields {
  return rowFields(accounts, account, 'id type name alias phone status verifiedAt createdAt');
}
