import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { createConnection } from 'mysql2/promise';
import { Deadline } from '../../src/core/timers.js';
import { idempotencyKeys } from '../../src/db/entities/ledger.js';
import type { Account } from '../../src/db/entities/parties.js';
import { idLiteral } from '../helpers/bank.js';
import { testDatabase } from '../helpers/database.js';
import { move, testKind } from '../helpers/kinds.js';
import {
  makeAccount,
  makeTenant,
  openWriter,
  type TestTenant,
  type WatchedWriter,
} from '../helpers/world.js';

const db = await testDatabase();

interface Parties {
  readonly tenant: TestTenant;
  readonly from: Account;
  readonly to: Account;
}

async function openParties(): Promise<Parties> {
  const deps = { database: db.database, writer: openWriter(db.database).writer };
  const tenant = await makeTenant(db.database);
  const from = await makeAccount(deps, tenant, { funds: { COPM: 1_000n } });
  return { tenant, from, to: await makeAccount(deps, tenant) };
}

const moveIn = ({ from, to }: Parties) => move({ from, to, raw: 1n });

const isBound = async ({ key }: { readonly key: string }): Promise<boolean> =>
  (await db.database.reader.find(idempotencyKeys, { idempotencyKey: key })) !== undefined;

const codeOf = ({ outcome }: Awaited<ReturnType<WatchedWriter['writer']['submit']>>) =>
  outcome.done ? 'done' : outcome.refusal.code;

/** Holds the rows of the SELECT while the work runs. */
async function whileLocked(select: string, work: () => Promise<void>): Promise<void> {
  const other = await createConnection({ uri: db.adminUrl, database: db.name });
  try {
    await other.query('START TRANSACTION');
    await other.query(`${select} FOR UPDATE`);
    await work();
  } finally {
    await other.end();
  }
}

const rowOf = ({ from }: Parties): string =>
  `SELECT id FROM accounts WHERE id=${idLiteral(from.id)}`;
const counterOf = ({ tenant }: Parties): string =>
  `SELECT 1 FROM event_counters WHERE tenant_id=${idLiteral(tenant.tenant.id)}`;

describe('the deadline of a command', () => {
  it('the ledger writer refuses a command whose deadline has passed', async () => {
    const { writer } = openWriter(db.database);
    const command = moveIn(await openParties());
    assert.equal(
      codeOf(await writer.submit(testKind, command, Deadline.afterMs(0))),
      'ledger_unavailable',
    );
    await writer.idle();
    assert.equal(await isBound(command), false);
  });

  for (const [what, held] of [
    ['account', rowOf],
    ['event counter', counterOf],
  ] as const)
    it(`a command that waits for a locked ${what} is not committed after its deadline, although its group still has time`, async () => {
      const { writer } = openWriter(db.database);
      const [hasty, patient] = [await openParties(), await openParties()];
      const [first, second] = [moveIn(hasty), moveIn(patient)];
      let answers: Promise<readonly string[]> | undefined;
      await whileLocked(held(hasty), async () => {
        answers = Promise.all([
          writer.submit(testKind, first, Deadline.afterMs(300)).then(codeOf),
          writer.submit(testKind, second).then(codeOf),
        ]);
        await sleep(800);
      });
      assert.deepEqual(await answers, ['ledger_unavailable', 'done']);
      await writer.idle();
      assert.deepEqual([await isBound(first), await isBound(second)], [false, true]);
    });

  it('a command that waits for several locks in turn is not committed after its deadline, although each wait is short', async () => {
    const { writer } = openWriter(db.database);
    const parties = await openParties();
    assert.equal(codeOf(await writer.submit(testKind, moveIn(parties))), 'done');
    const command = moveIn(parties);
    const deadline = Deadline.afterMs(1_000);
    const own = idLiteral(parties.tenant.tenant.id);
    const insertKey = [
      `CREATE TEMPORARY TABLE other SELECT * FROM idempotency_keys WHERE tenant_id=${own} LIMIT 1`,
      `UPDATE other SET idempotency_key='${command.key}'`,
      'INSERT INTO idempotency_keys SELECT * FROM other',
    ];
    await whileLocked(counterOf(parties), async () => {
      const other = await createConnection({ uri: db.adminUrl, database: db.name });
      await other.query('SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED');
      await other.query('START TRANSACTION');
      for (const statement of insertKey) await other.query(statement);
      const answer = writer.submit(testKind, command, deadline).then(codeOf);
      await sleep(deadline.leftMs() * 0.7);
      await other.end();
      assert.equal(await answer, 'ledger_unavailable');
      // Until the group may not send COMMIT any more either.
      await sleep(400);
    });
    await writer.idle();
    await sleep(500);
    assert.equal(await isBound(command), false);
  });
});

describe('the share of a tenant', () => {
  it('commands that wait for a locked account count as queued, and a tenant has at most half of the queue', async () => {
    const { writer, retries, seen } = openWriter(db.database, { maxQueue: 4 });
    const [flooding, other] = [await openParties(), await openParties()];
    const submit = (parties: Parties) => writer.submit(testKind, moveIn(parties)).then(codeOf);
    let waiting: Promise<readonly string[]> | undefined;
    await whileLocked(rowOf(flooding), async () => {
      waiting = Promise.all([submit(flooding), submit(flooding)]);
      while (retries.lock_wait === undefined) await sleep(20);
      const shed = submit(flooding);
      assert.equal(await Promise.race([shed, waiting]), 'ledger_unavailable', 'refused at once');
      assert.equal(await submit(other), 'done');
      const release = writer.admit(other.tenant.tenant.id);
      assert(release !== null);
      assert(writer.admit(other.tenant.tenant.id) !== null);
      assert.equal(await submit(other), 'ledger_unavailable', 'the queue is full');
      release();
      assert.equal(await submit(other), 'done');
    });
    assert.deepEqual(await waiting, ['done', 'done']);
    assert.equal(seen.shed, 2);
  });
});
