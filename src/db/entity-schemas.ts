import {
  EntitySchema,
  type EntitySchemaColumnOptions,
  type EntitySchemaIndexOptions,
} from 'typeorm';
import { TABLES } from './entities/index.js';
import { snakeCase, type Table } from './table.js';

/** The tables as TypeORM describes them, for migrations only. */
export const ENTITY_SCHEMAS: readonly EntitySchema[] = TABLES.map(entitySchemaOf);

type Columns = Table<unknown>['columns'];

function entitySchemaOf({ name, columns, key, unique, indexes }: Table<unknown>): EntitySchema {
  return new EntitySchema({
    name,
    tableName: name,
    columns: Object.fromEntries(
      columns.map((bound) => [bound.property, columnOf(bound, key.includes(bound.property))]),
    ),
    indices: [...indexesOf(unique, true), ...indexesOf(indexes, false)],
  });
}

function columnOf(
  { name, column }: Columns[number],
  isPrimary: boolean,
): EntitySchemaColumnOptions {
  const { type, length, values, isNullable, isAscii } = column;
  return {
    ...{ type, name, primary: isPrimary, nullable: isNullable },
    ...(length !== null && { length }),
    ...(type === 'datetime' && { precision: 3 }),
    ...(type === 'enum' && values !== null && { enum: [...values] }),
    ...(isAscii && { charset: 'ascii', collation: 'ascii_bin' }),
  };
}

function indexesOf(
  indexes: Table<unknown>['indexes'],
  unique: boolean,
): EntitySchemaIndexOptions[] {
  return Object.entries(indexes).map(([name, columns]) => ({
    name: snakeCase(name),
    columns: [...columns],
    unique,
  }));
}
