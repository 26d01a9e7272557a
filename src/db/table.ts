import type { Column, Stored } from './columns.js';

/** A column of any type: a Column is invariant in its value. */
interface AnyColumn extends Stored {
  readonly literal: (value: never) => string;
  readonly parse: (stored: unknown) => unknown;
}

type Columns = Readonly<Record<string, AnyColumn>>;

/** A row in code: camelCase names, values of the columns' types. */
export type RowOf<T> = T extends Table<infer R> ? R : never;

type RowOfColumns<C extends Columns> = { readonly [K in keyof C]: C[K] extends Column<infer V> ? V : never };

interface BoundColumn {
  readonly property: string;
  readonly name: string;
  readonly column: Column<unknown>;
}

/** What the code knows about a table: its name and columns. The migrations make the schema itself. */
export interface Table<Row> {
  readonly name: string;
  readonly columns: readonly BoundColumn[];
  readonly key: readonly string[];
  readonly column: (property: keyof Row & string) => BoundColumn;
}

/** Properties are camelCase, columns the same in snake_case. The primary key is `id` unless named. */
export function defineTable<const C extends Columns>(
  name: string,
  columns: C,
  key: readonly (keyof C & string)[] = ['id'],
): Table<RowOfColumns<C>> {
  const bound = Object.entries(columns).map(([property, column]) => ({
    property,
    name: property.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    column: column as Column<unknown>,
  }));
  const byProperty = new Map(bound.map((column) => [column.property, column]));
  return {
    name,
    columns: bound,
    key,
    column: (property) => {
      const column = byProperty.get(property);
      if (column === undefined) throw new TypeError(`${name} has no ${property}`);
      return column;
    },
  };
}

/** Parses the rows of a SELECT that are no table's: its columns have these names in snake_case. */
export function rowParser<const C extends Columns>(
  columns: C,
): (stored: Readonly<Record<string, unknown>>) => RowOfColumns<C> {
  const selected = defineTable('SELECT', columns, []);
  return (stored) => parseRow(selected, stored);
}

export function parseRow<Row>(table: Table<Row>, stored: Readonly<Record<string, unknown>>): Row {
  const row: Record<string, unknown> = {};
  for (const { property, name, column } of table.columns) row[property] = column.parse(stored[name]);
  return row as Row;
}
