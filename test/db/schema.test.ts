import assert from 'node:assert/strict';
import { DataSource } from 'typeorm';
import { TABLES } from '../../src/db/entities/index.js';
import { ENTITY_SCHEMAS } from '../../src/db/migrate.js';
import { GRANTS } from '../../src/db/grants.js';
import { testDatabase } from '../helpers/database.js';

const db = await testDatabase();

describe('the schema that the migrations create', () => {
  it('has the tables that the code defines and that the application has rights to', async () => {
    const rows = await db.sql(
      `SELECT table_name AS name FROM information_schema.tables WHERE table_schema=DATABASE()`,
    );
    const created = rows
      .map(({ name }) => String(name))
      .filter((name) => name !== 'schema_migrations');
    const defined = TABLES.map(({ name }) => name).sort();
    assert.deepEqual(created.sort(), defined);
    assert.deepEqual(
      Object.keys(GRANTS)
        .filter((name) => name !== 'schema_migrations')
        .sort(),
      defined,
    );
  });

  it('agrees with the definitions of the tables in every column and index', async () => {
    const url = new URL(db.adminUrl);
    url.pathname = `/${db.name}`;
    const [version] = await db.sql('SELECT VERSION() AS name');
    const type = String(version?.name).includes('MariaDB') ? 'mariadb' : 'mysql';
    const source = new DataSource({ type, url: url.href, entities: [...ENTITY_SCHEMAS] });
    await source.initialize();
    try {
      const { upQueries } = await source.driver.createSchemaBuilder().log();
      assert.deepEqual(
        upQueries.map(({ query }) => query),
        [],
      );
    } finally {
      await source.destroy();
    }
  });
});
