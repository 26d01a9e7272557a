import assert from 'node:assert/strict';
import { ASSETS } from '../../src/core/amount.js';
import { instant, toRfc3339 } from '../../src/core/instant.js';
import { startTestApi } from '../helpers/api.js';
import { answered, during, idLiteral, LEAST, list, openBank, setStatus } from '../helpers/bank.js';
import { testDatabase } from '../helpers/database.js';

const db = await testDatabase();
let now = instant(Date.parse('2033-01-01T00:00:00.123Z'));
const api = await startTestApi(db, {}, { clock: () => now });
const bank = await openBank(api);

describe('GET /v1/accounts/{account_id}/balances', () => {
  const nothing = (asset: string) => ({ asset, available: '0', held: '0', total: '0' });

  it('lists every asset, even without a movement; as_of is the moment of the last change', async () => {
    const account = await bank.account();
    assert.deepEqual(answered(await bank.get(`/v1/accounts/${account.id}/balances`), 200).json, {
      account_id: account.id,
      balances: ASSETS.map(nothing),
      as_of: toRfc3339(account.createdAt),
    });
    await bank.fund(account, { raw: 1n, asset: 'COPM' });
    now = instant(now + 1);
    const laterAnswer = await bank.get(`/v1/accounts/${account.id.toUpperCase()}/balances`);
    const later = answered(laterAnswer, 200).json;
    assert.deepEqual([later.account_id, later.as_of], [account.id, '2033-01-01T00:00:00.123Z']);
    answered(
      await bank.get(`/v1/accounts/${account.id}/balances?asset=COPM`),
      400,
      'invalid_field',
    );
  });

  it('follows every pay-in and transfer at once, each asset separately', async () => {
    const account = await bank.account({ funds: { COPM: 5n * LEAST, DUSD: 2n ** 53n + 1n } });
    const other = await bank.account();
    await bank.sent({ from: account, to: other, raw: 2n * LEAST });
    const seen = async (id: string): Promise<unknown> =>
      (await bank.get(`/v1/accounts/${id}/balances`)).json.balances;
    const funded: readonly string[] = ['COPM', 'DUSD'];
    const others = ASSETS.filter((asset) => !funded.includes(asset)).map(nothing);
    const free = (asset: string, raw: bigint) => ({
      ...{ asset, available: `${raw}`, held: '0', total: `${raw}` },
    });
    const dusd = free('DUSD', 9_007_199_254_740_993n);
    assert.deepEqual(await seen(account.id), [free('COPM', 3n * LEAST), dusd, ...others]);
    const received = [free('COPM', 2n * LEAST), nothing('DUSD'), ...others];
    assert.deepEqual(await seen(other.id), received);
  });

  it('shows the sum of available and held funds as the total', async () => {
    const account = await bank.account({ funds: { COPM: 9_007_199_254_740_993n } });
    const hold = (raw: bigint): Promise<number> =>
      db.change(
        `UPDATE balances SET available=available-(${raw}), held=held+(${raw})
         WHERE account_id=${idLiteral(account.id)} AND asset='COPM'`,
      );
    await hold(9_007_199_254_740_992n);
    const [copm] = list((await bank.get(`/v1/accounts/${account.id}/balances`)).json.balances);
    const held = { held: '9007199254740992', total: '9007199254740993' };
    assert.deepEqual(copm, { asset: 'COPM', available: '1', ...held });
    // Nothing of the test's holds it, as the auditor would say.
    await hold(-9_007_199_254_740_992n);
  });

  it('never shows half of a transfer', async () => {
    const [one, other] = [
      await bank.account({ funds: { COPM: 60n * LEAST } }),
      await bank.account(),
    ];
    const sending = Promise.all(
      Array.from({ length: 60 }, () => bank.sent({ from: one, to: other, raw: LEAST })),
    );
    await during(sending, async () => {
      const available = await bank.available(one);
      assert.equal(available % LEAST, 0n);
      assert((await bank.available(other)) >= 60n * LEAST - available);
    });
  });

  it('also shows the balances of frozen and closed accounts', async () => {
    const account = await bank.account({ funds: { COPM: 1n } });
    for (const status of ['frozen', 'closed'] as const) {
      await setStatus(db, account, status);
      assert.equal(await bank.available(account), 1n);
    }
    await setStatus(db, account, 'active');
  });
});
