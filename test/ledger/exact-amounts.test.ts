import assert from 'node:assert/strict';
import { MAX_RAW } from '../../src/core/amount.js';
import { ApiError } from '../../src/core/errors.js';
import { uuid } from '../../src/db/columns.js';
import { testDatabase } from '../helpers/database.js';
import { MONTH, move, reserve, settle, testKind } from '../helpers/kinds.js';
import { fund, makeAccount, makeTenant, openWriter } from '../helpers/world.js';

const db = await testDatabase();
const watched = openWriter(db.database);

describe('amounts are exact', () => {
  const deps = () => ({ database: db.database, writer: watched.writer });

  for (const raw of [9_007_199_254_740_991n, 9_007_199_254_740_993n, MAX_RAW - 1n, MAX_RAW])
    it(`${raw} is paid in, held, transferred and paid out without a change`, async () => {
      const tenant = await makeTenant(db.database);
      const payer = await makeAccount(deps(), tenant, { funds: { DUSD: raw } });
      const receiver = await makeAccount(deps(), tenant);
      const pended = await watched.writer.submit(
        testKind,
        reserve({ from: payer, to: receiver, raw, asset: 'DUSD' }),
      );
      assert(pended.outcome.done);
      assert.deepEqual(
        await stored(
          `SELECT held FROM balances WHERE account_id=${uuid.literal(payer.id)} AND asset='DUSD'`,
        ),
        [raw],
      );
      assert(
        (await watched.writer.submit(testKind, settle(pended.outcome.resource, 'completed')))
          .outcome.done,
      );
      const of = `account_id=${uuid.literal(receiver.id)} AND asset='DUSD'`;
      assert.deepEqual(await stored(`SELECT available FROM balances WHERE ${of}`), [raw]);
      assert.deepEqual(await stored(`SELECT raw FROM entries WHERE ${of}`), [raw]);
      assert.deepEqual(await stored(`SELECT total_after FROM entries WHERE ${of}`), [raw]);
      assert.deepEqual(
        await stored(
          `SELECT used FROM month_totals WHERE account_id=${uuid.literal(payer.id)} AND month='${MONTH}'`,
        ),
        [raw],
      );
      // And back again, less one unit.
      const back = await watched.writer.submit(
        testKind,
        move({ from: receiver, to: payer, raw: raw - 1n, asset: 'DUSD' }),
      );
      assert(back.outcome.done);
      assert.deepEqual(await stored(`SELECT available FROM balances WHERE ${of}`), [1n]);
    });

  it('an amount that a column cannot hold is refused, never rounded', async () => {
    const tenant = await makeTenant(db.database);
    const account = await makeAccount(deps(), tenant, { funds: { COPM: MAX_RAW } });
    await assert.rejects(
      fund(deps(), account, { raw: 1n, asset: 'COPM' }),
      (error) => error instanceof ApiError && error.refusal.details?.reason === 'out_of_range',
    );
    assert.deepEqual(
      await stored(
        `SELECT available FROM balances WHERE account_id=${uuid.literal(account.id)} AND asset='COPM'`,
      ),
      [MAX_RAW],
    );
  });

  /** The column as text, so that nothing between the server and here can round it. */
  async function stored(select: string): Promise<bigint[]> {
    const rows = await db.sql(select.replace(/SELECT (\w+) /, 'SELECT CAST($1 AS CHAR) AS text '));
    return rows.map((row) => BigInt(String(row.text)));
  }
});
