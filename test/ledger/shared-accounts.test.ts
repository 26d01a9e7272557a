import assert from 'node:assert/strict';
import { createConnection } from 'mysql2/promise';
import type { Uuid } from '../../src/core/ids.js';
import type { Account } from '../../src/db/entities/parties.js';
import type { Database } from '../../src/db/database.js';
import { openDatabase, testDatabase, type TestDatabase } from '../support/database.js';
import { move, testKind } from '../support/kinds.js';
import { Proxy } from '../support/proxy.js';
import {
  assertLedgerSound,
  makeAccount,
  makeTenant,
  openDesk,
  type WatchedDesk,
} from '../support/world.js';

const TURN_MS = 20;

describe('a desk whose accounts other processes post to', () => {
  let db: TestDatabase;
  before(async () => {
    db = await testDatabase();
  });
  afterEach(() => assertLedgerSound(db.database));

  async function deskAndAccounts(
    over: Database = db.database,
  ): Promise<{ watched: WatchedDesk; from: Account; to: Account }> {
    const watched = openDesk(over, { commandTimeoutMs: 6_000 });
    const deps = { database: db.database, desk: openDesk(db.database).desk };
    const tenant = await makeTenant(db.database);
    const from = await makeAccount(deps, tenant, { funds: { COPM: 1_000n } });
    return { watched, from, to: await makeAccount(deps, tenant) };
  }

  /** Somebody else has the account's lock until a group waits for it and `meanwhile` is over. */
  async function behindAnother(
    id: Uuid,
    submit: () => Promise<unknown>,
    meanwhile: () => Promise<void>,
  ): Promise<void> {
    const connection = await createConnection({ uri: db.adminUrl });
    try {
      await connection.query('START TRANSACTION');
      await connection.query(
        `SELECT id FROM accounts WHERE id=X'${id.replaceAll('-', '')}' FOR UPDATE`,
      );
      const submitted = submit();
      while ((await lockStatements()) === 0) await pause(TURN_MS);
      await meanwhile();
      await connection.query('ROLLBACK');
      await submitted;
    } finally {
      await connection.end();
    }
  }

  async function lockStatements(): Promise<number> {
    const rows = await db.sql(
      `SELECT id FROM information_schema.processlist
       WHERE db='${db.name}' AND info LIKE '%FOR UPDATE%' AND id<>CONNECTION_ID()`,
    );
    return rows.length;
  }

  it('gathers what comes while its group waits for theirs into one more, instead of having that wait as well', async () => {
    const { watched, from, to } = await deskAndAccounts();
    const submit = () => watched.desk.submit(testKind, move({ from, to, raw: 1n }));
    await behindAnother(from.id, submit, () => pause(10 * TURN_MS));

    const later: ReturnType<typeof submit>[] = [];
    await watched.desk.idle();
    const before = watched.groups.length;
    await behindAnother(from.id, submit, async () => {
      for (let count = 0; count < 5; count += 1) {
        later.push(submit());
        await pause(TURN_MS);
      }
    });
    for (const { outcome } of await Promise.all(later)) assert(outcome.done);
    assert.deepEqual(watched.groups.slice(before), [1, 5]);
    assert.deepEqual(watched.retries, {});
  });

  it('has several groups at a time again when they are gone', async () => {
    const { watched, from, to } = await deskAndAccounts();
    const submit = () => watched.desk.submit(testKind, move({ from, to, raw: 1n }));
    await behindAnother(from.id, submit, () => pause(10 * TURN_MS));
    for (let count = 0; count < 60; count += 1) assert((await submit()).outcome.done);

    const later: ReturnType<typeof submit>[] = [];
    await watched.desk.idle();
    const before = watched.groups.length;
    await behindAnother(from.id, submit, async () => {
      later.push(submit());
      await pause(TURN_MS);
      later.push(submit());
      await pause(TURN_MS);
    });
    for (const { outcome } of await Promise.all(later)) assert(outcome.done);
    assert.deepEqual(watched.groups.slice(before), [1, 1, 1]);
  });

  it('goes on with others while nobody knows whether a group was committed', async () => {
    const proxy = await Proxy.open(db.url);
    const through = openDatabase(proxy.through(db.url));
    try {
      const { watched, from, to } = await deskAndAccounts(through);
      const submit = () => watched.desk.submit(testKind, move({ from, to, raw: 1n }));
      await behindAnother(from.id, submit, () => pause(10 * TURN_MS));

      proxy.fateOf = (data) => (data.includes('INSERT INTO entries') ? 'cut_before' : 'pass');
      const lost = submit();
      while (watched.seen.unknown === 0) await pause(TURN_MS);
      proxy.fateOf = () => 'pass';
      const first = await Promise.race([
        lost.then(() => 'lost'),
        submit().then(({ outcome }) => outcome.done),
      ]);
      assert.equal(first, true);
      assert(!(await lost).outcome.done);
    } finally {
      await through.close();
      await proxy.close();
    }
  });
});

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
