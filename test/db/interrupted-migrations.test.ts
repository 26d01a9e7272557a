import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { createConnection, type Connection, type RowDataPacket } from 'mysql2/promise';
import type { QueryRunner } from 'typeorm';
import { migrations } from '../../migrations/index.js';
import { migrate } from '../../src/db/migrate.js';
import { NOTES, resumable } from '../../src/db/resumable-migrations.js';

/** The migrations before the one that changes six tables and makes three. */
const BEFORE = 1763746510000;

class Cut extends Error {
  override name = 'Cut';
}

describe('a migration that was cut short', () => {
  const name = `money_cut_${process.env.MOCHA_WORKER_ID ?? '0'}_${process.pid}`;
  const [whole, stepwise] = [`${name}_whole`, `${name}_steps`];
  const adminUrl = process.env.TEST_MYSQL_ADMIN_URL ?? '';
  const urlOf = (database: string): string => {
    const url = new URL(adminUrl);
    [url.username, url.password, url.pathname] = [database, 'test-only', `/${database}`];
    return url.href;
  };
  let admin: Connection;

  before(async () => {
    admin = await createConnection({ uri: adminUrl });
    for (const database of [name, whole, stepwise]) {
      await admin.query(`CREATE DATABASE ${database} CHARACTER SET utf8mb4`);
      await admin.query(`CREATE USER '${database}'@'%' IDENTIFIED BY 'test-only'`);
    }
    await migrate({ adminUrl, url: urlOf(whole) });
  });

  after(async () => {
    for (const database of [name, whole, stepwise]) {
      await admin.query(`DROP DATABASE ${database}`);
      await admin.query(`DROP USER '${database}'@'%'`);
    }
    await admin.end();
  });

  it('goes on where it stopped when it is run again after its connection was lost', async () => {
    await migrate({ adminUrl, url: urlOf(name), until: BEFORE });
    const reader = await createConnection({ uri: adminUrl });
    await reader.query('START TRANSACTION');
    await reader.query(`SELECT * FROM ${name}.staff`);
    const cut = assert.rejects(migrate({ adminUrl, url: urlOf(name), lockWaitS: 60 }));
    // It has changed other tables by now, which no server undoes.
    await admin.query(`KILL ${await waiting(admin, name)}`);
    await cut;
    await reader.query('COMMIT');
    await reader.end();
    const done = await migrate({ adminUrl, url: urlOf(name) });
    assert.match(done[0]!, /^VerifiedStaff/);
    assert.deepEqual(await schemaOf(admin, name), await schemaOf(admin, whole));
    assert.deepEqual(await migrate({ adminUrl, url: urlOf(name) }), []);
  });

  it('goes on wherever it stopped: after each statement of every migration', async () => {
    const connection = await createConnection({ uri: adminUrl, database: stepwise });
    let cuts = 0;
    for (const Migration of migrations)
      for (let left = 1; ; left += 1)
        try {
          await new (resumable(Migration))().up(endingAfter(connection, left));
          break;
        } catch (failure) {
          if (!(failure instanceof Cut)) throw failure;
          cuts += 1;
        }
    await connection.query(`DROP TABLE ${NOTES}`);
    await connection.end();
    assert.ok(cuts > migrations.length);
    const expected = (await schemaOf(admin, whole)).filter((line) => !line.startsWith('schema_migrations '));
    assert.deepEqual(await schemaOf(admin, stepwise), expected);
  });

  it('does not take a table that it never made for its own', async () => {
    const other = `${name}_other`;
    await admin.query(`CREATE DATABASE ${other}`);
    await admin.query(`CREATE TABLE ${other}.accounts (id INT PRIMARY KEY)`);
    // However often it is tried.
    for (let tries = 0; tries < 2; tries += 1)
      await assert.rejects(migrate({ adminUrl, url: urlOf(other) }), /already exists/);
    await admin.query(`DROP DATABASE ${other}`);
  });
});

/** Runs this many statements, then ends as a process would: the last of them has taken effect. */
function endingAfter(connection: Connection, statements: number): QueryRunner {
  let left = statements;
  const query = async (sql: string, parameters?: unknown[]): Promise<unknown> => {
    const answered = await Promise.allSettled([connection.query(sql, parameters)]);
    // Also after one that found its work done.
    left -= 1;
    if (left === 0) throw new Cut();
    if (answered[0].status === 'rejected') throw answered[0].reason;
    return answered[0].value[0];
  };
  return { query } as unknown as QueryRunner;
}

async function waiting(admin: Connection, database: string): Promise<number> {
  for (;;) {
    const [rows] = await admin.query<RowDataPacket[]>(
      `SELECT id FROM information_schema.processlist WHERE db='${database}' AND state LIKE 'Waiting for table metadata lock'`,
    );
    if (rows[0] !== undefined) return Number(rows[0].id);
    await sleep(20);
  }
}

/** Columns and indexes, a line each. */
async function schemaOf(admin: Connection, database: string): Promise<string[]> {
  const [rows] = await admin.query<RowDataPacket[]>(
    `SELECT CONCAT_WS(' ', table_name, column_name, column_type, is_nullable, ordinal_position) AS line
       FROM information_schema.columns WHERE table_schema='${database}'
     UNION ALL SELECT CONCAT_WS(' ', table_name, index_name, column_name, seq_in_index, non_unique)
       FROM information_schema.statistics WHERE table_schema='${database}' ORDER BY line`,
  );
  return rows.map(({ line }) => String(line));
}
