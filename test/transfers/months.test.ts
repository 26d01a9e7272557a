import assert from 'node:assert/strict';
import { type Instant, instant } from '../../src/core/instant.js';
import type { Account } from '../../src/db/entities/parties.js';
import { startTestApi, type TestApi } from '../support/api.js';
import { answered, type Bank, LEAST, openBank } from '../support/bank.js';
import { testDatabase } from '../support/database.js';

const MAXIMUM = 1_200_000_000n;
const MONTH = 5_000_000_000n;

const db = await testDatabase();

describe("the month's allowance", () => {
  let api: TestApi;
  let bank: Bank;
  let receiver: Account;
  let now: Instant;

  const at = (time: string): void => void (now = instant(Date.parse(time)));

  before(async () => {
    // Accounts open by the wall clock, and nothing is dated before them.
    at('2031-01-15T12:00:00.000Z');
    api = await startTestApi(db, {}, { clock: () => now });
    bank = await openBank(api);
  });

  beforeEach(async () => {
    at('2031-01-15T12:00:00.000Z');
    // Of each test's own: what is posted to an account is never dated before the last posting to it.
    receiver = await bank.account();
  });

  const person = (funds: bigint, own = bank): Promise<Account> =>
    own.account({ type: 'person', funds: { COPM: funds, DUSD: funds } });

  /** Uses the month up, to `rest`. */
  async function useAllBut(rest: bigint, payer: Account, own = bank, to = receiver): Promise<void> {
    for (let left = MONTH - rest; left > 0n; left -= MAXIMUM)
      await own.sent({ from: payer, to, raw: left < MAXIMUM ? left : MAXIMUM });
  }

  it("the month's allowance is used to the last unit; one more is 422 monthly_limit_exceeded {used, limit, resets_at}", async () => {
    const payer = await person(2n * MONTH);
    await useAllBut(LEAST, payer);
    const refused = answered(
      await bank.send({ from: payer, to: receiver, raw: LEAST + 1n }),
      422,
      'monthly_limit_exceeded',
    );
    assert.deepEqual(refused.details, {
      used: (MONTH - LEAST).toString(),
      limit: MONTH.toString(),
      resets_at: '2031-02-01T05:00:00.000Z',
    });
    await bank.sent({ from: payer, to: receiver, raw: LEAST });
    const full = answered(
      await bank.send({ from: payer, to: receiver, raw: LEAST }),
      422,
      'monthly_limit_exceeded',
    );
    assert.equal(full.details?.used, MONTH.toString());
  });

  for (const [timeZone, last, first, next] of [
    ['America/Bogota', '2031-02-01T04:59:59.999Z', '2031-02-01T05:00:00.000Z', '2031-03-01T05:00'],
    [
      'Pacific/Kiritimati',
      '2031-01-31T09:59:59.999Z',
      '2031-01-31T10:00:00.000Z',
      '2031-02-28T10:00',
    ],
    // Summer time begins within the month: the end is not the beginning plus whole days.
    ['Europe/Madrid', '2031-03-31T21:59:59.999Z', '2031-03-31T22:00:00.000Z', '2031-04-30T22:00'],
  ] as const)
    it(`the month's allowance is that of the tenant's time zone: in ${timeZone} it renews at ${first}`, async () => {
      const own = await openBank(api, { timeZone });
      const [payer, to] = [await person(10n * MONTH, own), await own.account()];
      for (const [time, resetsAt] of [
        [last, first],
        [first, `${next}:00.000Z`],
      ] as const) {
        at(time);
        await useAllBut(0n, payer, own, to);
        const refused = await own.send({ from: payer, to, raw: LEAST });
        answered(refused, 422, 'monthly_limit_exceeded');
        assert.deepEqual(refused.details, {
          used: MONTH.toString(),
          limit: MONTH.toString(),
          resets_at: resetsAt,
        });
      }
    });

  it("the month's allowance stays used when the clock runs back over the edge of a month", async () => {
    const payer = await person(10n * MONTH);
    at('2031-02-01T05:00:00.000Z');
    await useAllBut(0n, payer);
    at('2031-02-01T04:59:59.000Z');
    // The account's last command was in February, so is this one.
    const refused = answered(
      await bank.send({ from: payer, to: receiver, raw: LEAST }),
      422,
      'monthly_limit_exceeded',
    );
    assert.equal(refused.details?.resets_at, '2031-03-01T05:00:00.000Z');
  });

  it("the month's allowance is one for each asset and each account", async () => {
    const [payer, other] = [await person(10n * MONTH), await person(10n * MONTH)];
    await useAllBut(0n, payer);
    await bank.sent({ from: payer, to: receiver, raw: LEAST, asset: 'DUSD' });
    await bank.sent({ from: other, to: receiver, raw: LEAST });
    answered(
      await bank.send({ from: payer, to: receiver, raw: LEAST }),
      422,
      'monthly_limit_exceeded',
    );
  });

  it("the month's allowance counts what leaves, not what comes in", async () => {
    const payer = await person(MONTH);
    const person2 = await person(LEAST);
    await useAllBut(0n, payer, bank, person2);
    await bank.sent({ from: person2, to: payer, raw: MAXIMUM });
    const refused = answered(
      await bank.send({ from: payer, to: receiver, raw: LEAST }),
      422,
      'monthly_limit_exceeded',
    );
    assert.equal(refused.details?.used, MONTH.toString());
  });

  it("the month's allowance is not passed by one unit by 64 senders of uneven amounts, and what was refused would have passed it", async () => {
    const payer = await person(10n * MONTH);
    const wanted = Array.from({ length: 64 }, (_, index) => LEAST + BigInt(index) * 7_919_333n);
    let used = 0n;
    const refused: bigint[] = [];
    await Promise.all(
      wanted.map(async (raw) => {
        const answer = await bank.send({ from: payer, to: receiver, raw });
        if (answer.status === 201) used += raw;
        else {
          answered(answer, 422, 'monthly_limit_exceeded');
          assert(BigInt(String(answer.details?.used)) + raw > MONTH);
          refused.push(raw);
        }
      }),
    );
    assert(used <= MONTH && refused.length > 0);
    for (const raw of refused)
      assert(used + raw > MONTH, `${raw} was refused with ${MONTH - used} left`);
  });
});
