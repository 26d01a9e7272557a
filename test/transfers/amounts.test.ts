import assert from 'node:assert/strict';
import type { Account } from '../../src/db/entities/parties.js';
import { startTestApi, type TestAnswer } from '../support/api.js';
import { answered, LEAST, list, object, openBank, transferBody, walk } from '../support/bank.js';
import { testDatabase } from '../support/database.js';

const MAX = 2n ** 63n - 1n;

const db = await testDatabase();
const api = await startTestApi(db);
const bank = await openBank(api);

describe('an amount is taken exactly or not at all', () => {
  let payer: Account;
  let receiver: Account;

  before(async () => {
    payer = await bank.account({ funds: { COPM: 10n ** 15n } });
    receiver = await bank.account();
  });

  const post = (raw: unknown): Promise<TestAnswer> => {
    const body = {
      ...transferBody({ from: payer, to: receiver, raw: 0n }),
      amount: { raw, asset: 'COPM' },
    };
    return bank.request('POST', '/v1/transfers', { body });
  };

  const MALFORMED: readonly (readonly [what: string, raw: unknown])[] = [
    ['decimals', '100000.00'],
    ['decimals of nothing', '100000.'],
    ['a comma', '100000,00'],
    ['a thousands separator', '100,000'],
    ['an underscore', '100_000'],
    ['an exponent', '1e6'],
    ['an exponent in capitals', '1E6'],
    ['a plus', '+100000'],
    ['a minus', '-100000'],
    ['minus zero', '-0'],
    ['a leading zero', '0100000'],
    ['two zeros', '00'],
    ['a space before', ' 100000'],
    ['a space behind', '100000 '],
    ['a space within', '100 000'],
    ['a no-break space', '100000\u00a0'],
    ['a line end', '100000\n'],
    ['a NUL', '100000\u0000'],
    ['hexadecimal', '0x186a0'],
    ['octal', '0o303240'],
    ['binary', '0b1'],
    ['a bigint literal', '100000n'],
    ['Arabic digits', '\u0661\u0660\u0660\u0660\u0660\u0660'],
    ['Devanagari digits', '\u0967\u0966\u0966\u0966\u0966\u0966'],
    ['fullwidth digits', '\uff11\uff10\uff10\uff10\uff10\uff10'],
    ['mathematical digits', '\u{1d7cf}\u{1d7ce}\u{1d7ce}\u{1d7ce}\u{1d7ce}\u{1d7ce}'],
    ['a superscript', '10000\u00b2'],
    ['a combining mark', '100000\u0301'],
    ['a right-to-left mark', '\u200f100000'],
    ['a zero-width space', '100\u200b000'],
    ['nothing', ''],
    ['a word', 'Infinity'],
    ['NaN', 'NaN'],
    ['null as text', 'null'],
    ['a JSON number', 100_000],
    ['a JSON number with decimals', 100_000.5],
    ['a JSON number beyond 2^53', 2 ** 53 + 2],
    ['true', true],
    ['a list', ['100000']],
    ['an object', { value: '100000' }],
  ];

  for (const [what, raw] of MALFORMED)
    it(`an amount is taken exactly or not at all with ${what} is 400 {field: "amount.raw", reason: "not_an_integer_string"}`, async () => {
      const { details } = answered(await post(raw), 400, 'invalid_field');
      assert.deepEqual([details?.field, details?.reason], ['amount.raw', 'not_an_integer_string']);
    });

  it('a JSON number that a reader would round is refused, not rounded', async () => {
    const body = JSON.stringify(transferBody({ from: payer, to: receiver, raw: 0n }));
    for (const raw of ['9007199254740993', '1e400', '100000.0', '-0']) {
      const answer = await bank.request('POST', '/v1/transfers', {
        body: body.replace('"raw":"0"', `"raw":${raw}`),
      });
      answered(answer, 400, 'invalid_field');
    }
  });

  const BEYOND: readonly (readonly [what: string, raw: string])[] = [
    ['2^63', (MAX + 1n).toString()],
    ['2^64 + 100000', (2n ** 64n + 100_000n).toString()],
    ['20 digits', '99999999999999999999'],
    ['10^400', `1${'0'.repeat(400)}`],
    ['60,000 digits', '9'.repeat(60_000)],
  ];

  for (const [what, raw] of BEYOND)
    it(`an amount is taken exactly or not at all: ${what} is 400 {field: "amount.raw", reason: "out_of_range"}`, async () => {
      const { details } = answered(await post(raw), 400, 'invalid_field');
      assert.deepEqual([details?.field, details?.reason], ['amount.raw', 'out_of_range']);
    });

  for (const raw of [2n ** 53n - 1n, 2n ** 53n, 2n ** 53n + 1n, MAX - 1n, MAX])
    it(`an amount is taken exactly or not at all: ${raw} is well formed, and refused in exactly that number`, async () => {
      const { details, text } = answered(
        await post(raw.toString()),
        422,
        'above_per_operation_limit',
      );
      assert.equal(details?.requested, raw.toString());
      const units = `${raw / 100n}`.replace(/\B(?=(\d{3})+$)/g, ',');
      assert(text.includes(`${units}.${(raw % 100n).toString().padStart(2, '0')} COPM`), text);
    });

  it('"0" is well formed and below the minimum', async () => {
    const { details } = answered(await post('0'), 422, 'below_minimum');
    assert.equal(details?.requested, '0');
  });

  for (const held of [2n ** 53n - 1n, 2n ** 53n + 1n, MAX])
    it(`an account with ${held} has exactly one transfer less after it`, async () => {
      const own = await openBank(api);
      const from = await own.account({ funds: { COPM: held } });
      const to = await own.account();
      await own.sent({ from, to, raw: 100_001n });
      assert.equal(await own.available(from), held - 100_001n);
      const { balances } = (await own.get(`/v1/accounts/${from.id}/balances`)).json;
      assert.deepEqual(list(balances)[0], {
        asset: 'COPM',
        available: (held - 100_001n).toString(),
        held: '0',
        total: (held - 100_001n).toString(),
      });
      const movements = await walk(own, `/v1/accounts/${from.id}/movements`);
      assert.deepEqual(
        movements.map(({ amount }) => object(amount).raw),
        ['100001', held.toString()],
      );
      // And it all can come back.
      await own.sent({ from: to, to: from, raw: 100_001n });
      assert.equal(await own.available(from), held);
    });

  it('odd amounts add up to the last unit', async () => {
    const own = await openBank(api);
    const from = await own.account({ funds: { COPM: 10n ** 12n } });
    const to = await own.account();
    const amounts = Array.from({ length: 40 }, (_, index) => LEAST + BigInt(index) ** 3n * 7n + 1n);
    await Promise.all(amounts.map((raw) => own.sent({ from, to, raw })));
    const sum = amounts.reduce((total, raw) => total + raw, 0n);
    assert.deepEqual([await own.available(from), await own.available(to)], [10n ** 12n - sum, sum]);
  });
});
