import assert from 'node:assert/strict';
import {
  clearAccountLimits,
  type LimitChange,
  setAccountLimits,
} from '../../src/operations/limits.js';
import { freezeAccount } from '../../src/accounts/status.js';
import type { Asset } from '../../src/core/amount.js';
import { ApiError } from '../../src/core/errors.js';
import { type Instant, instant, systemClock } from '../../src/core/instant.js';
import type { Account } from '../../src/db/entities/parties.js';
import { startTestApi } from '../helpers/api.js';
import { answered, type Json, LEAST, list, object, openBank } from '../helpers/bank.js';
import { testDatabase } from '../helpers/database.js';
import { TEST_ACTOR } from '../helpers/world.js';

const db = await testDatabase();

let now: Instant | null = null;
const api = await startTestApi(db, {}, { clock: () => now ?? systemClock() });
const bank = await openBank(api);

describe('the limits of an account', () => {
  let to: Account;

  beforeEach(async () => {
    now = null;
    to = await bank.account();
  });

  const at = (time: string): void => void (now = instant(Date.parse(time)));
  const override = (
    account: Account,
    change: Omit<LimitChange, 'accountId' | 'asset'>,
    asset: Asset = 'COPM',
  ) => setAccountLimits(db.deps, { accountId: account.id, asset, ...change }, TEST_ACTOR);

  async function limitsOf(account: Account, asset: Asset = 'COPM', own = bank): Promise<Json> {
    const { json } = answered(await own.get(`/v1/accounts/${account.id}/limits`), 200);
    assert.equal(json.account_id, account.id);
    const found = list(json.limits).find((one) => one.asset === asset);
    assert.ok(found !== undefined);
    return found;
  }
  const monthOf = async (account: Account, own = bank): Promise<Json> =>
    object((await limitsOf(account, 'COPM', own)).month);

  for (const [type, asset, minimum, maximum, limit] of [
    ['person', 'COPM', '100000', '1200000000', '5000000000'],
    ['person', 'DUSD', '100000', '3000000000', '12000000000'],
    ['business', 'COPM', '100000', '120000000000', '500000000000'],
    ['business', 'DUSD', '100000', '300000000000', '1200000000000'],
  ] as const)
    it(`of a ${type} in ${asset} are ${minimum}, ${maximum} and ${limit} a month`, async () => {
      const { month, ...others } = await limitsOf(await bank.account({ type }), asset);
      assert.deepEqual(others, { asset, minimum, maximum });
      assert.deepEqual([object(month).used, object(month).limit], ['0', limit]);
    });

  it('set for one account apply to it at once, and to no other', async () => {
    const [own, other] = [await bank.account({ funds: { COPM: 10n } }), await bank.account()];
    await override(own, { minimum: 1n, maximum: 5n, month: 7n });
    const { month, ...others } = await limitsOf(own);
    assert.deepEqual(
      [others, object(month).limit],
      [{ asset: 'COPM', minimum: '1', maximum: '5' }, '7'],
    );
    assert.equal((await limitsOf(other)).minimum, '100000');
    assert.equal((await limitsOf(own, 'DUSD')).minimum, '100000');
    await bank.sent({ from: own, to, raw: 5n });
    const overAnswer = await bank.send({ from: own, to, raw: 3n });
    const over = answered(overAnswer, 422, 'monthly_limit_exceeded');
    assert.deepEqual([over.details?.used, over.details?.limit], ['5', '7']);
  });

  it("limits absent from a request stay unchanged, and null restores the default limit of the account's type", async () => {
    const own = await bank.account();
    await override(own, { minimum: 2n, maximum: 9n });
    await override(own, { month: 50n });
    await override(own, { maximum: null });
    const { month, ...others } = await limitsOf(own);
    assert.deepEqual(others, { asset: 'COPM', minimum: '2', maximum: '120000000000' });
    assert.equal(object(month).limit, '50');
    assert.equal(await clearAccountLimits(db.deps, own.id, 'COPM', TEST_ACTOR), true);
    assert.equal(await clearAccountLimits(db.deps, own.id, 'COPM', TEST_ACTOR), false);
    assert.equal((await limitsOf(own)).minimum, '100000');
  });

  it('a monthly limit of zero refuses every payment', async () => {
    const own = await bank.account({ funds: { COPM: LEAST } });
    await override(own, { month: 0n });
    const refusedAnswer = await bank.send({ from: own, to, raw: LEAST });
    const refused = answered(refusedAnswer, 422, 'monthly_limit_exceeded');
    assert.deepEqual([refused.details?.used, refused.details?.limit], ['0', '0']);
  });

  it('never allow an amount of zero: a minimum is at least 1 and not above the maximum', async () => {
    const own = await bank.account({ funds: { COPM: LEAST } });
    for (const [change, reason] of [
      [{ minimum: 0n }, 'must_be_positive'],
      [{ minimum: 6n, maximum: 5n }, 'over_the_maximum'],
      [{ maximum: 5n }, 'over_the_maximum'],
    ] as const)
      await assert.rejects(
        override(own, change),
        (failure) => failure instanceof ApiError && failure.refusal.details?.reason === reason,
      );
    await override(own, { minimum: 1n });
    answered(await bank.send({ from: own, to, raw: 0n }), 422, 'below_minimum');
  });

  it('are refused in the order status, minimum, maximum, month, funds', async () => {
    const own = await bank.account();
    const send = (raw: bigint) => bank.send({ from: own, to, raw });
    await override(own, { minimum: 10n, maximum: 20n, month: 15n });
    answered(await send(15n), 422, 'insufficient_funds');
    answered(await send(16n), 422, 'monthly_limit_exceeded');
    answered(await send(21n), 422, 'above_per_operation_limit');
    answered(await send(9n), 422, 'below_minimum');
    await freezeAccount(db.deps, own.id, { actor: TEST_ACTOR, reason: null });
    const frozen = answered(await send(9n), 422, 'capability_cannot_send');
    assert.deepEqual(frozen.details, { reason: 'frozen' });
  });

  it('show how much of the month is used in each asset, by outgoing payments only', async () => {
    const own = await bank.account({ funds: { COPM: 10n * LEAST, DUSD: LEAST } });
    await bank.sent({ from: own, to, raw: LEAST });
    await bank.sent({ from: own, to, raw: 2n * LEAST });
    await bank.sent({ from: own, to, raw: LEAST, asset: 'DUSD' });
    assert.equal((await monthOf(own)).used, (3n * LEAST).toString());
    assert.equal(object((await limitsOf(own, 'DUSD')).month).used, LEAST.toString());
    assert.equal((await monthOf(to)).used, '0');
  });

  it("the month's allowance is used to the last unit; one more is 422 monthly_limit_exceeded {used, limit, resets_at}, also when the clock runs back over the edge of the month", async () => {
    const own = await bank.account({ funds: { COPM: 10n * LEAST } });
    await override(own, { month: 3n * LEAST });
    const assertFull = async (used: bigint, resets_at: string): Promise<void> => {
      const refused = await bank.send({ from: own, to, raw: 3n * LEAST - used + LEAST });
      assert.deepEqual(answered(refused, 422, 'monthly_limit_exceeded').details, {
        ...{ used: used.toString(), limit: (3n * LEAST).toString(), resets_at },
      });
    };
    at('2031-02-01T05:00:00.000Z');
    await bank.sent({ from: own, to, raw: LEAST });
    await assertFull(LEAST, '2031-03-01T05:00:00.000Z');
    await bank.sent({ from: own, to, raw: 2n * LEAST });
    await assertFull(3n * LEAST, '2031-03-01T05:00:00.000Z');
    // The account's last command was in February, so is this one.
    at('2031-02-01T04:59:59.000Z');
    await assertFull(3n * LEAST, '2031-03-01T05:00:00.000Z');
    assert.equal((await monthOf(own)).used, (3n * LEAST).toString());
  });

  for (const [timeZone, next, afterNext] of [
    // Summer time ends in November in New York: the months on both sides end at different hours of UTC.
    ['America/New_York', '2031-11-01T04:00:00.000Z', '2031-12-01T05:00:00.000Z'],
    ['Pacific/Kiritimati', '2031-01-31T10:00:00.000Z', '2031-02-28T10:00:00.000Z'],
  ] as const)
    it(`renew in ${timeZone} at the start of the month, to the millisecond`, async () => {
      const own = await openBank(api, { timeZone });
      const [payer, receiver] = [
        await own.account({ funds: { COPM: 3n * LEAST } }),
        await own.account(),
      ];
      now = instant(Date.parse(next) - 1);
      await own.sent({ from: payer, to: receiver, raw: LEAST });
      const before = await monthOf(payer, own);
      assert.deepEqual([before.used, before.resets_at], [LEAST.toString(), next]);
      at(next);
      const after = await monthOf(payer, own);
      assert.deepEqual([after.used, after.resets_at], ['0', afterNext]);
      await own.sent({ from: payer, to: receiver, raw: 2n * LEAST });
      assert.equal((await monthOf(payer, own)).used, (2n * LEAST).toString());
    });

  it('64 simultaneous payments never exceed the monthly limit by even one unit', async () => {
    const payer = await bank.account({ type: 'person', funds: { COPM: 100n * LEAST } });
    const limit = 21n * LEAST - 1n;
    await override(payer, { month: limit });
    const answers = await Promise.all(
      Array.from({ length: 64 }, () => bank.send({ from: payer, to, raw: LEAST })),
    );
    const refused = answers.filter(({ status }) => status !== 201);
    assert.equal(refused.length, 44);
    const used = (20n * LEAST).toString();
    for (const answer of refused) {
      const { details } = answered(answer, 422, 'monthly_limit_exceeded');
      assert.deepEqual([details?.used, details?.limit], [used, limit.toString()]);
    }
    assert.equal((await monthOf(payer)).used, used);
    await override(payer, { minimum: 1n });
    await bank.sent({ from: payer, to, raw: LEAST - 1n });
    answered(await bank.send({ from: payer, to, raw: 1n }), 422, 'monthly_limit_exceeded');
  });
});
