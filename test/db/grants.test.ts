import assert from 'node:assert/strict';
import { type Connection, createConnection } from 'mysql2/promise';
import { checkRights, ExcessiveRights, excessiveRights, GRANTS } from '../../src/db/grants.js';
import { migrate } from '../../src/db/migrate.js';
import { run, TEST_KEYS } from '../ops/ops.js';
import { testEnvironment } from '../helpers/api.js';
import { freshDatabase, type TestDatabase, testDatabase } from '../helpers/database.js';

const DENIED = [1142, 1143];
const FOR_EVER = [
  'ledger_transactions',
  'entries',
  'idempotency_keys',
  'pay_ins',
  'audit_log',
  'payout_statement_lines',
];
/** Tables whose oldest rows are removed, and none is changed. */
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
    assert.rejects(
      connection.query(sql),
      (error: { errno?: number }) => DENIED.includes(error.errno ?? 0),
      sql,
    );

  for (const table of FOR_EVER)
    it(`may not change or delete rows of ${table}`, async () => {
      const [columns] = await connection.query(`SHOW COLUMNS FROM ${table}`);
      const [column] = columns as { Field: string }[];
      await connection.query(`SELECT 1 FROM ${table} LIMIT 1`);
      await denied(`UPDATE ${table} SET ${column!.Field}=${column!.Field}`);
      await denied(`DELETE FROM ${table}`);
      await denied(`TRUNCATE TABLE ${table}`);
      await denied(`REPLACE INTO ${table} SELECT * FROM ${table}`);
    });

  for (const table of NEVER_CHANGED)
    it(`may not change rows of ${table}`, async () => {
      await denied(`UPDATE ${table} SET id=id`);
      await denied(`TRUNCATE TABLE ${table}`);
    });

  it('may not change the schema', async () => {
    await denied('ALTER TABLE balances DROP CONSTRAINT balances_available');
    await denied('DROP TABLE entries');
    await denied('CREATE TABLE mine (id INT)');
  });

  it('has rights on exactly the tables that exist', async () => {
    const tables = await db.sql(
      `SELECT table_name AS name FROM information_schema.tables WHERE table_schema='${db.name}'`,
    );
    assert.deepEqual(tables.map(({ name }) => String(name)).sort(), Object.keys(GRANTS).sort());
  });
});

describe("rights of the application's user beyond the list", () => {
  let db: TestDatabase;
  let user: string;

  before(async () => {
    db = await freshDatabase(process.env.TEST_MYSQL_ADMIN_URL ?? '', 'money_test_rights');
    user = `'${db.name}'@'%'`;
  });
  after(() => db.remove());

  const TOO_MUCH: Readonly<Record<string, () => readonly string[]>> = {
    'a right on a table beyond its listed rights': () => [
      `GRANT UPDATE ON ${db.name}.entries TO ${user}`,
    ],
    'a right on some columns': () => [`GRANT UPDATE (raw, seq) ON ${db.name}.entries TO ${user}`],
    'every right on the whole database': () => [`GRANT ALL PRIVILEGES ON ${db.name}.* TO ${user}`],
    'a right on every database': () => [`GRANT PROCESS ON *.* TO ${user}`],
    'a right on another database': () => [`GRANT SELECT ON mysql.user TO ${user}`],
    'the right to grant its rights to others': () => [
      `GRANT SELECT ON ${db.name}.entries TO ${user} WITH GRANT OPTION`,
    ],
    'a role': () => [
      'DROP ROLE IF EXISTS money_test_role',
      'CREATE ROLE money_test_role',
      `GRANT money_test_role TO ${user}`,
    ],
  };

  for (const [what, statements] of Object.entries(TOO_MUCH))
    it(`stop the migrations with the REVOKE that fixes it: ${what}`, async () => {
      for (const statement of statements()) await db.sql(statement);
      const failure: unknown = await migrate(db).then(
        () => undefined,
        (error: unknown) => error,
      );
      assert.ok(failure instanceof ExcessiveRights, String(failure));
      const revokes = failure.message.match(/REVOKE .*(?=;)/g) ?? [];
      assert.ok(revokes.length > 0, failure.message);
      for (const revoke of revokes) await db.sql(revoke);
      await checkRights(db.database.reader);
      await migrate(db);
    });

  it('keep API and worker from starting, with the same message', async () => {
    await db.sql(`GRANT DELETE ON ${db.name}.entries TO ${user}`);
    const env = testEnvironment(db.url, {
      PORT: '0',
      ADMIN_PORT: '0',
      ENCRYPTION_KEYS: TEST_KEYS,
    });
    for (const program of ['src/processes/api.js', 'src/processes/worker.js']) {
      const ran = await run(program, [], env);
      assert.equal(ran.code, 1, ran.stderr);
      assert.match(ran.stderr, /REVOKE DELETE ON .*entries. FROM /);
    }
    await db.sql(`REVOKE DELETE ON ${db.name}.entries FROM ${user}`);
  });

  it('may concern a table that a later release added: processes of this release still start', async () => {
    await db.sql(`CREATE TABLE ${db.name}.of_a_later_release (id INT PRIMARY KEY)`);
    await db.sql(
      `GRANT SELECT, INSERT, UPDATE, DELETE ON ${db.name}.of_a_later_release TO ${user}`,
    );
    await checkRights(db.database.reader);
    await db.sql(`GRANT DROP ON ${db.name}.of_a_later_release TO ${user}`);
    await assert.rejects(checkRights(db.database.reader), /REVOKE DROP ON/);
    await db.sql(`REVOKE DROP ON ${db.name}.of_a_later_release FROM ${user}`);
    await db.sql(`DROP TABLE ${db.name}.of_a_later_release`);
  });

  it("the rights of the application's user are read from the SHOW GRANTS of MariaDB and MySQL, and no password hash is revealed", () => {
    const read = (...lines: readonly string[]): string[] => excessiveRights('money', lines);
    assert.deepEqual(
      read(
        "GRANT USAGE ON *.* TO `app`@`%` IDENTIFIED BY PASSWORD '*94BDCEBE19083CE2A1F959FD02F964C7AF4CFC29'",
        'GRANT SELECT, INSERT ON `money`.`entries` TO `app`@`%`',
        'GRANT SELECT, INSERT, UPDATE (`last_sequence`) ON `money`.`audit_chains` TO `app`@`%`',
        'REVOKE SELECT ON `mysql`.* FROM `app`@`%`',
        'SET DEFAULT ROLE NONE FOR `app`@`%`',
      ),
      [],
    );
    assert.deepEqual(
      read(
        "GRANT SUPER, RELOAD ON *.* TO 'app'@'10.%' IDENTIFIED BY PASSWORD '*94BDCEBE' WITH GRANT OPTION",
        'GRANT SELECT, INSERT, DELETE ON `money`.`entries` TO `app`@`%`',
        'GRANT SELECT ON `other`.`entries` TO `app`@`%`',
        'GRANT EXECUTE ON PROCEDURE `money`.`pay` TO `app`@`%`',
        "GRANT PROXY ON ''@'%' TO 'app'@'%' WITH GRANT OPTION",
        'GRANT `boss`@`%`,`clerk`@`%` TO `app`@`%`',
        'GRANT `boss` TO `app`@`%` WITH ADMIN OPTION',
        'GRANT SELECT ON `money`.* TO PUBLIC',
      ),
      [
        "REVOKE SUPER, RELOAD ON *.* FROM 'app'@'10.%'",
        "REVOKE GRANT OPTION ON *.* FROM 'app'@'10.%'",
        'REVOKE DELETE ON `money`.`entries` FROM `app`@`%`',
        'REVOKE SELECT ON `other`.`entries` FROM `app`@`%`',
        'REVOKE EXECUTE ON PROCEDURE `money`.`pay` FROM `app`@`%`',
        "REVOKE PROXY ON ''@'%' FROM 'app'@'%'",
        'REVOKE `boss`@`%`,`clerk`@`%` FROM `app`@`%`',
        'REVOKE `boss` FROM `app`@`%`',
        'REVOKE SELECT ON `money`.* FROM PUBLIC',
      ],
    );
    assert.throws(() => read('CREATE USER `app`'), /cannot be interpreted/);
  });
});
