import assert from 'node:assert/strict';
import { createConnection } from 'mysql2/promise';
import { setAccountLimits } from '../../src/operations/limits.js';
import type { Batch } from '../../src/db/entities/batches.js';
import type { Account } from '../../src/db/entities/parties.js';
import { idLiteral, LEAST } from '../helpers/bank.js';
import { testDatabase } from '../helpers/database.js';
import { balanceOf, TEST_ACTOR } from '../helpers/world.js';
import { BatchWorld, payroll } from './support.js';

const ROWS = 150;
const COVERED = 120;
/** For so long a group waits for a lock before it is given up: the lock of a row itself is waited for a second. */
const GIVEN_UP_MS = 1_500;
/** Long enough for a group of rows to be given up three times. */
const LOCKED_MS = 2_000;

/** The place of a data row in the file, from 0; its number is 2 more. */
const placeOf = (number: number): number => number - 2;

const db = await testDatabase();

describe('a batch whose funds may not cover every row', () => {
  let world: BatchWorld;
  let ana: Account;
  let bruno: Account;

  beforeEach(async () => {
    world = await BatchWorld.open(db, { writer: { commandTimeoutMs: GIVEN_UP_MS } });
    ana = await world.account({ alias: '$ana' });
    bruno = await world.account({ alias: '$bruno' });
  });

  /** Equal rows to ana, but for the one that pays bruno. */
  const fileWithBrunoIn = (number: number): Buffer =>
    payroll(
      Array.from({ length: ROWS }, (_, place) => [
        place === placeOf(number) ? '$bruno' : '$ana',
        LEAST.toString(),
        'COPM',
      ]),
    );

  /** Pays while another session keeps the account's row locked: for that time, and until everything that can be paid is. */
  async function payWhileLocked(
    account: Account,
    batch: Batch,
    isPaidUp: () => Promise<boolean>,
  ): Promise<void> {
    const connection = await createConnection({ uri: db.adminUrl });
    try {
      await connection.query('START TRANSACTION');
      await connection.query(
        `SELECT id FROM accounts WHERE id=${idLiteral(account.id)} FOR UPDATE`,
      );
      let isEnough = false;
      for (const until = performance.now() + LOCKED_MS; !isEnough || performance.now() < until;) {
        await world.pay(batch);
        isEnough = await isPaidUp();
      }
    } finally {
      await connection.end();
    }
  }

  for (const [what, funds, month, code] of [
    ['funds', COVERED, ROWS, 'insufficient_funds'],
    ["month's allowance", ROWS, COVERED, 'monthly_limit_exceeded'],
  ] as const)
    it(`a batch whose ${what} may not cover every row pays its rows in order, and pauses at a row without a result`, async () => {
      const open = 60;
      const payer = await world.account({ funds: { COPM: BigInt(funds) * LEAST } });
      const limit = { accountId: payer.id, asset: 'COPM', month: BigInt(month) * LEAST } as const;
      await setAccountLimits(world.deps, limit, TEST_ACTOR);
      const batch = await world.executed(payer, fileWithBrunoIn(open));
      await payWhileLocked(bruno, batch, async () => {
        const paid = (await world.rows(batch.id)).filter(({ status }) => status === 'paid');
        assert.deepEqual(
          paid.map(({ number }) => number),
          Array.from({ length: paid.length }, (_, place) => place + 2),
        );
        assert(paid.length <= placeOf(open), `${paid.length} are paid`);
        return paid.length === placeOf(open);
      });
      while ((await world.pay(batch)) !== 'over') continue;
      assert.deepEqual(
        (await world.rows(batch.id)).map(({ status, code }) => code ?? status),
        Array.from({ length: ROWS }, (_, place) => (place < COVERED ? 'paid' : code)),
      );
      assert.equal((await balanceOf(db.database, ana.id)).available, BigInt(COVERED - 1) * LEAST);
      assert.equal((await balanceOf(db.database, bruno.id)).available, LEAST);
    });

  it('a batch whose money is held continues past a row without a result', async () => {
    const payer = await world.account({ type: 'business', funds: { COPM: 1_000n * LEAST } });
    const batch = await world.executed(payer, fileWithBrunoIn(2));
    await payWhileLocked(
      bruno,
      batch,
      async () => (await world.batch(batch.id)).rowsPaid === ROWS - 1,
    );
    assert.equal((await world.rows(batch.id))[placeOf(2)]?.status, 'pending');
    while ((await world.pay(batch)) !== 'over') continue;
    assert.equal((await world.batch(batch.id)).status, 'completed');
    assert.equal((await balanceOf(db.database, bruno.id)).available, LEAST);
  });
});
