import assert from 'node:assert/strict';
import { type Connection, createConnection } from 'mysql2/promise';
import { GRANTS } from '../../src/db/grants.js';
import { type TestDatabase, testDatabase } from '../support/database.js';

const DENIED = [1142, 1143];
const FOR_EVER = [
  'ledger_transactions',
  'entries',
  'idempotency_keys',
  'pay_ins',
  'audit_log',
  'payout_statement_lines',
];
/** Their oldest rows are removed, none is changed. */
const NEVER_CHANGED = ['events', 'webhook_attempts'];

describe("the application's user", () => {
  let db: TestDatabase;
  let connection: Connection;

  before(async () => {
    db = await testDatabase();
    connection = await createConnection({ uri: db.url });
  });

  after(() => connection.end());

  const denied = (sql: string): Promise<void> =>
    assert.rejects(connection.query(sql), (error: { errno?: number }) => DENIED.includes(error.errno ?? 0), sql);

  for (const table of FOR_EVER)
    it(`may not change or delete what is in ${table}`, async () => {
      const [columns] = await connection.query(`SHOW COLUMNS FROM ${table}`);
      const [column] = columns as { Field: string }[];
      await connection.query(`SELECT 1 FROM ${table} LIMIT 1`);
      await denied(`UPDATE ${table} SET ${column!.Field}=${column!.Field}`);
      await denied(`DELETE FROM ${table}`);
      await denied(`TRUNCATE TABLE ${table}`);
      await denied(`REPLACE INTO ${table} SELECT * FROM ${table}`);
    });

  for (const table of NEVER_CHANGED)
    it(`may not change what is in ${table}`, async () => {
      await denied(`UPDATE ${table} SET id=id`);
      await denied(`TRUNCATE TABLE ${table}`);
    });

  it('may not change the schema', async () => {
    await denied('ALTER TABLE balances DROP CONSTRAINT balances_available');
    await denied('DROP TABLE entries');
    await denied('CREATE TABLE mine (id INT)');
  });

  it('has rights on exactly the tables that there are', async () => {
    const tables = await db.sql(
      `SELECT table_name AS name FROM information_schema.tables WHERE table_schema='${db.name}'`,
    );
    assert.deepEqual(tables.map(({ name }) => String(name)).sort(), Object.keys(GRANTS).sort());
  });
});
