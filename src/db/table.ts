import type { Column, ColumnStorage } from './columns.js';

/** A column with values of any type. `Column<unknown>` would not accept it. */
interface AnyColumn extends ColumnStorage {
  readonly literal: (value: never) => string;
  readonly parse: (stored: unknown) => unknown;
}

type Columns = Readonly<Record<string, AnyColumn>>;

/** A row in code: camelCase names, values of the columns' types. */
export type RowOf<T> = T extends Table<infer R> ? R : never;

type RowOfColumns<C extends Columns> = {
  readonly [K in keyof C]: C[K] extends Column<infer V> ? V : never;
};

interface BoundColumn {
  readonly property: string;
  readonly name: string;
  readonly column: Column<unknown>;
}

/** A table's definition, from which migrations are generated (`npm run migration:generate`). */
export interface Table<Row> {
  readonly name: string;
  readonly columns: readonly BoundColumn[];
  readonly column: (property: keyof Row & string) => BoundColumn;
  readonly key: readonly string[];
  readonly unique: Indexes<string>;
  readonly indexes: Indexes<string>;
}

/** The properties of each index, in order, by its name. */
type Indexes<Property> = Readonly<Record<string, readonly Property[]>>;

interface Keys<Property> {
  /** `id` unless given. */
  readonly key?: readonly Property[];
  readonly unique?: Indexes<Property>;
  readonly indexes?: Indexes<Property>;
}

/** Names are camelCase in code and snake_case in MySQL. CHECKs are only in the migrations. */
export function defineTable<const C extends Columns>(
  name: string,
  columns: C,
  { key = ['id'], unique = {}, indexes = {} }: Keys<keyof C & string> = {},
): Table<RowOfColumns<C>> {
  const bound = Object.entries(columns).map(([property, column]) => ({
    property,
    name: snakeCase(property),
    column: column as Column<unknown>,
  }));
  const byProperty = new Map(bound.map((column) => [column.property, column]));
  return {
    name,
    key,
    unique,
    indexes,
    columns: bound,
    column: (property) => {
      const column = byProperty.get(property);
      if (column === undefined) throw new TypeError(`${name} has no column ${property}`);
      return column;
    },
  };
}

/** Returns the table with only these columns, for statements that read no others. */
export function withColumns<Row, K extends keyof Row & string>(
  table: Table<Row>,
  properties: readonly K[],
): Table<Pick<Row, K>> {
  return { ...table, columns: properties.map((property) => table.column(property)) };
}

type Nulls<Row> = { readonly [K in keyof Row as null extends Row[K] ? K : never]: null };

/** Returns null for each nullable column, for a new row. */
export function nullsOf<Row>(table: Table<Row>): Nulls<Row> {
  const nullable = table.columns.filter(({ column }) => column.isNullable);
  return Object.fromEntries(nullable.map(({ property }) => [property, null])) as Nulls<Row>;
}

export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Returns a parser for the rows of a SELECT whose columns have these names in snake_case. */
export function rowParser<const C extends Columns>(
  columns: C,
): (stored: Readonly<Record<string, unknown>>) => RowOfColumns<C> {
  const selected = defineTable('SELECT', columns, { key: [] });
  return (stored) => parseRow(selected, stored);
}

export function parseRow<Row>(table: Table<Row>, stored: Readonly<Record<string, unknown>>): Row {
  const row: Record<string, unknown> = {};
  for (const { property, name, column } of table.columns)
    row[property] = column.parse(stored[name]);
  return row as Row;
}
