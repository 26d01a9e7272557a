import assert from 'node:assert/strict';
import { TABLES } from '../../src/db/entities/index.js';
import { GRANTS } from '../../src/db/grants.js';
import { testDatabase, type TestDatabase } from '../support/database.js';

/** A column as the server describes it. */
interface Described {
  readonly name: string;
  readonly type: string;
  readonly isNullable: boolean;
  /** Of an ENUM. */
  readonly words: readonly string[];
}

describe('the tables the code knows', () => {
  let db: TestDatabase;
  let described: Map<string, Described[]>;
  before(async () => {
    db = await testDatabase();
    described = new Map();
    const rows = await db.sql(
      `SELECT table_name AS owner, column_name AS name, data_type AS type, column_type AS whole, is_nullable AS nullable
       FROM information_schema.columns WHERE table_schema=DATABASE() ORDER BY table_name, ordinal_position`,
    );
    for (const { owner, name, type, whole, nullable } of rows) {
      const words = Array.from(String(whole).matchAll(/'((?:[^']|'')*)'/g), ([, word = '']) => word);
      const column = { name: String(name), type: String(type), isNullable: nullable === 'YES', words };
      described.set(String(owner), [...(described.get(String(owner)) ?? []), column]);
    }
  });

  it('are the tables the migrations create, and those the application has rights to', () => {
    const known = TABLES.map(({ name }) => name).sort();
    const ours = (names: Iterable<string>): string[] =>
      [...names].filter((name) => name !== 'schema_migrations').sort();
    assert.deepEqual(known, ours(described.keys()));
    assert.deepEqual(known, ours(Object.keys(GRANTS)));
  });

  for (const table of TABLES)
    it(`agree with the schema in every column of ${table.name}`, () => {
      const stored = described.get(table.name) ?? [];
      assert.deepEqual(table.columns.map(({ name }) => name).sort(), stored.map(({ name }) => name).sort());
      for (const { name, column } of table.columns) {
        const { type, isNullable, words } = stored.find((one) => one.name === name)!;
        assert((column.types as readonly string[]).includes(type), `${table.name}.${name} is ${type}`);
        assert.equal(isNullable, column.isNullable, `${table.name}.${name} may be null: ${isNullable}`);
        if (type === 'enum')
          assert.deepEqual([...(column.words ?? [])].sort(), [...words].sort(), `${table.name}.${name}`);
      }
    });

  it('name their primary keys in the order of the schema', async () => {
    const rows = await db.sql(
      `SELECT table_name AS owner, column_name AS name FROM information_schema.statistics
       WHERE table_schema=DATABASE() AND index_name='PRIMARY' ORDER BY table_name, seq_in_index`,
    );
    for (const table of TABLES) {
      const names = table.key.map((property) => table.columns.find((one) => one.property === property)?.name);
      assert.deepEqual(
        names,
        rows.filter(({ owner }) => owner === table.name).map(({ name }) => String(name)),
        table.name,
      );
    }
  });
});
