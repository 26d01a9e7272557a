import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { ASSETS } from '../../src/core/amount.js';
import { instant, toRfc3339 } from '../../src/core/instant.js';
import { startTestApi } from '../helpers/api.js';
import { answered, type Json, LEAST, object, openBank, text, walk } from '../helpers/bank.js';
import { testDatabase } from '../helpers/database.js';
import { payoutBody } from '../payouts/support.js';

const NO_ASSET = `not_one_of: ${ASSETS.join(', ')}`;

const START = Date.parse('2033-05-01T12:00:00.000Z');
const LISTS = ['transfers', 'bonuses', 'payouts'] as const;

const db = await testDatabase();

/** By list, newest first, as they were answered when they were made. */
const made: Record<(typeof LISTS)[number], Json[]> = { transfers: [], bonuses: [], payouts: [] };
const raw = (one: Json): bigint => BigInt(text(object(one.amount).raw));
const asset = (one: Json): unknown => object(one.amount).asset;
let now = instant(START);
const api = await startTestApi(db, {}, { clock: () => now });
const bank = await openBank(api);
const payer = await bank.account({ funds: { COPM: 9_000n * LEAST, DUSD: 9_000n * LEAST } });
const others = [await bank.account(), await bank.account()];
for (let step = 0; step < 12; step += 1) {
  now = instant(START + step);
  const asset = step % 4 === 0 ? 'DUSD' : 'COPM';
  const raw = LEAST + BigInt(step);
  const to = others[step % 2]!;
  made.transfers.unshift(await bank.sent({ from: payer, to, raw, asset }));
  const recipient = { account_id: to.id };
  const bonus = { source_account: payer.id, recipient, amount: { raw: raw.toString(), asset } };
  made.bonuses.unshift(
    answered(await bank.request('POST', '/v1/bonuses', { body: bonus }), 201).json,
  );
  const destination = {
    bank_code: step % 2 ? '0007' : '0009',
    account_number: `12345${6_000 + (step % 3)}`,
  };
  const payout = payoutBody({ from: payer, raw, destination });
  made.payouts.unshift(
    answered(await bank.request('POST', '/v1/payouts', { body: payout }), 201).json,
  );
}

describe('the lists of operations', () => {
  const at = (offset: number): string => toRfc3339(instant(START + offset));
  const ids = (items: readonly Json[]): unknown[] => items.map(({ id }) => id);

  /** The list shows, by any size of page, what the rule keeps. */
  async function finds(
    name: (typeof LISTS)[number],
    query: string,
    keep: (one: Json) => boolean,
  ): Promise<void> {
    const expected = ids(made[name].filter(keep));
    for (const limit of [1, 5, 100])
      assert.deepEqual(ids(await walk(bank, `/v1/${name}?${query}&limit=${limit}`)), expected);
  }

  const least = LEAST + 3n;
  const most = LEAST + 8n;
  const AMOUNTS: readonly (readonly [string, (one: Json) => boolean])[] = [
    ['asset=COPM', (one) => asset(one) === 'COPM'],
    [`asset=COPM&amount[gte]=${least}`, (one) => asset(one) === 'COPM' && raw(one) >= least],
    [`asset=COPM&amount[lte]=${most}`, (one) => asset(one) === 'COPM' && raw(one) <= most],
    [
      `asset=COPM&amount[gte]=${least}&amount[lte]=${most}`,
      (one) => asset(one) === 'COPM' && raw(one) >= least && raw(one) <= most,
    ],
    [`asset=COPM&amount[gte]=${most}&amount[lte]=${least}`, () => false],
    [`asset=COPM&amount[gte]=9223372036854775807`, () => false],
    [
      `asset=COPM&amount[gte]=${least}&created_at[gte]=${at(4)}&created_at[lte]=${at(9)}`,
      (one) =>
        asset(one) === 'COPM' &&
        raw(one) >= least &&
        text(one.created_at) >= at(4) &&
        text(one.created_at) <= at(9),
    ],
  ];
  for (const name of LISTS)
    it(`the list of ${name} can be filtered by asset, amount, time and source`, async () => {
      for (const [query, keep] of AMOUNTS) await finds(name, query, keep);
      const [query, keep] = AMOUNTS[3]!;
      await finds(name, `${query}&source_account=${payer.id}`, keep);
    });

  it('can be filtered by destination', async () => {
    for (const { id } of others) {
      await finds(
        'transfers',
        `destination_account=${id}`,
        (one) => object(one.destination).account_id === id,
      );
      await finds(
        'bonuses',
        `recipient_account=${id.toUpperCase()}`,
        (one) => object(one.recipient).account_id === id,
      );
    }
    const end = (one: Json, digits: string): boolean =>
      text(object(one.destination).account_number).endsWith(digits);
    await finds('payouts', 'bank_code=0007', (one) => object(one.destination).bank_code === '0007');
    await finds('payouts', 'account_number_end=6001', (one) => end(one, '6001'));
    const both = (one: Json): boolean =>
      object(one.destination).bank_code === '0009' && end(one, '6002');
    await finds('payouts', 'bank_code=0009&account_number_end=6002&asset=COPM', both);
    await finds('transfers', `destination_account=${randomUUID()}`, () => false);
    await finds('transfers', `destination_account=${payer.id}`, () => false);
  });

  it('filtered by destination include operations that wait for approval', async () => {
    const [to] = others;
    await bank.guard(payer, { asset: 'DUSD', threshold: 77n * LEAST });
    const pendingAnswer = await bank.send({
      from: payer,
      to: to!,
      raw: 77n * LEAST,
      asset: 'DUSD',
    });
    const pending = answered(pendingAnswer, 202).json;
    const query = `destination_account=${to!.id}&status=pending_approval`;
    assert.deepEqual(ids(await walk(bank, `/v1/transfers?${query}`)), [pending.id]);
    answered(await bank.request('POST', `/v1/transfers/${text(pending.id)}/cancel`), 200);
  });

  it('refuse an amount without an asset, and malformed filters', async () => {
    for (const [query, field, reason] of [
      ['amount[gte]=1', 'asset', 'needed_with_amount'],
      ['asset=EUR', 'asset', NO_ASSET],
      ['asset=COPM&amount[gte]=1.5', 'amount[gte]', 'not_an_integer_string'],
      ['asset=COPM&amount[gte]=01', 'amount[gte]', 'not_an_integer_string'],
      ['asset=COPM&amount[lte]=9223372036854775808', 'amount[lte]', 'out_of_range'],
      ['request_id=x', 'request_id', 'not_a_uuid'],
      ['amount=1', 'amount', 'unknown'],
    ] as const)
      for (const name of LISTS) {
        const { details } = answered(await bank.get(`/v1/${name}?${query}`), 400, 'invalid_field');
        assert.deepEqual([details?.field, details?.reason], [field, reason]);
      }
  });

  it('refuse a malformed destination, and a cursor of another list', async () => {
    for (const path of [
      'transfers?destination_account=x',
      'bonuses?recipient_account=1',
      'payouts?bank_code=x',
      'payouts?account_number_end=12345',
      'payouts?account_number_end=',
      'transfers?recipient_account=1',
      'bonuses?bank_code=0007',
      'bonus_batches?asset=COPM',
    ])
      answered(await bank.get(`/v1/${path}`), 400, 'invalid_field');
  });

  it("never show another tenant's operations, with any filter", async () => {
    const stranger = await openBank(api);
    for (const query of [
      `transfers?destination_account=${others[0]!.id}`,
      `bonuses?recipient_account=${others[0]!.id}`,
      'payouts?bank_code=0007',
      'transfers?asset=COPM&amount[gte]=0',
    ])
      assert.deepEqual(answered(await stranger.get(`/v1/${query}`), 200).json, {
        items: [],
        next_cursor: null,
      });
  });
});
