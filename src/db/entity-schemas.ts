import { EntitySchema, type EntitySchemaColumnOptions } from 'typeorm';
import { TABLES } from './entities/index.js';
import type { Table } from './table.js';

/** The tables for TypeORM's tools. The service itself reads and writes through src/db/statements.ts. */
export const ENTITY_SCHEMAS: readonly EntitySchema[] = TABLES.map(entitySchemaOf);

function entitySchemaOf({ name, columns, key }: Table<unknown>): EntitySchema {
  const options = columns.map(({ property, name: columnName, column }): [string, EntitySchemaColumnOptions] => [
    property,
    {
      type: column.types[0],
      name: columnName,
      primary: key.includes(property),
      nullable: column.isNullable,
      ...(column.types[0] === 'enum' && column.words !== null ? { enum: [...column.words] } : {}),
    },
  ]);
  return new EntitySchema({ name, tableName: name, columns: Object.fromEntries(options) });
}
