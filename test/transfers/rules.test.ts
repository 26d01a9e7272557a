import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Account } from '../../src/db/entities/parties.js';
import { startTestApi, type TestAnswer } from '../helpers/api.js';
import {
  answered,
  idLiteral,
  type Json,
  LEAST,
  list,
  object,
  openBank,
  setStatus,
  transferBody,
  walk,
} from '../helpers/bank.js';
import { testDatabase } from '../helpers/database.js';

/** The limits of docs/contract.md, written out, so that a changed limit is seen. */
const LIMITS = {
  person: {
    COPM: { minimum: 100_000n, maximum: 1_200_000_000n },
    DUSD: { minimum: 100_000n, maximum: 3_000_000_000n },
  },
  business: {
    COPM: { minimum: 100_000n, maximum: 120_000_000_000n },
    DUSD: { minimum: 100_000n, maximum: 300_000_000_000n },
  },
} as const;
const PLENTY = 10n ** 15n;
const MAX = 2n ** 63n - 1n;

const db = await testDatabase();
const api = await startTestApi(db);
const bank = await openBank(api);
const receiver = await bank.account();

describe('POST /v1/transfers: the rules about money', () => {
  /** The 422 with exactly these details. */
  function assertRefused(answer: TestAnswer, code: string, details: Json): void {
    answered(answer, 422, code);
    assert.deepEqual(answer.details, details);
  }

  for (const [reason, spoil] of [
    [
      'not_verified',
      (account) =>
        db.change(`UPDATE accounts SET verified_at=NULL WHERE id=${idLiteral(account.id)}`),
    ],
    ['frozen', (account) => setStatus(db, account, 'frozen')],
    ['closed', (account) => setStatus(db, account, 'closed')],
  ] as readonly (readonly [string, (account: Account) => Promise<unknown>])[])
    it(`an account that is ${reason} cannot send: 422 capability_cannot_send {reason}, before every other rule`, async () => {
      const payer = await bank.account();
      await spoil(payer);
      for (const raw of [0n, LEAST, PLENTY])
        assertRefused(
          await bank.send({ from: payer, to: receiver, raw }),
          'capability_cannot_send',
          { reason },
        );
    });

  for (const type of ['person', 'business'] as const)
    for (const asset of ['COPM', 'DUSD'] as const) {
      const { minimum, maximum } = LIMITS[type][asset];

      it(`a ${type} sends from ${minimum} to ${maximum} of ${asset} at once, to the unit, else 422 below_minimum or above_per_operation_limit`, async () => {
        const payer = await bank.account({ type, funds: { [asset]: minimum + maximum } });
        const send = (raw: bigint): Promise<TestAnswer> =>
          bank.send({ from: payer, to: receiver, raw, asset });
        const [least, most] = [minimum.toString(), maximum.toString()];
        for (const raw of [0n, 1n, minimum - 1n])
          assertRefused(await send(raw), 'below_minimum', {
            ...{ minimum: least, requested: raw.toString(), asset },
          });
        for (const raw of [maximum + 1n, 2n ** 53n + 1n, MAX])
          assertRefused(await send(raw), 'above_per_operation_limit', {
            ...{ maximum: most, requested: raw.toString(), asset },
          });
        for (const raw of [minimum, maximum]) answered(await send(raw), 201);
      });
    }

  it('an amount over the available balance is 422 insufficient_funds {available, requested}', async () => {
    const payer = await bank.account({ funds: { COPM: 3n * LEAST, DUSD: PLENTY } });
    const raw = 3n * LEAST + 1n;
    assertRefused(await bank.send({ from: payer, to: receiver, raw }), 'insufficient_funds', {
      available: (3n * LEAST).toString(),
      requested: raw.toString(),
    });
    await bank.fund(payer, { raw: 1n, asset: 'COPM' });
    await bank.sent({ from: payer, to: receiver, raw });
  });

  it('a 422 is bound to its key forever, even after its cause is gone; a new key acts', async () => {
    const key = randomUUID();
    const payer = await bank.account();
    const send = (raw = LEAST): Promise<TestAnswer> =>
      bank.send({ from: payer, to: receiver, raw }, { key });
    const first = answered(await send(), 422, 'insufficient_funds');
    assert.equal(first.headers.get('svc-idempotent-replayed'), null);
    await bank.fund(payer, { raw: LEAST, asset: 'COPM' });
    const again = answered(await send(), 422, 'insufficient_funds');
    assert.equal(again.headers.get('svc-idempotent-replayed'), 'true');
    assert.equal(again.text, first.text);
    answered(await send(LEAST + 1n), 409, 'idempotency_key_reused');
    await bank.sent({ from: payer, to: receiver, raw: LEAST });
  });

  it('a refused transfer leaves no transfer, event, month or movement', async () => {
    const own = await openBank(api);
    const payer = await own.account({ type: 'person' });
    const to = await own.account();
    answered(await own.send({ from: payer, to, raw: LEAST }), 422, 'insufficient_funds');
    for (const path of ['/v1/transfers', '/v1/events', `/v1/accounts/${payer.id}/movements`])
      assert.deepEqual((await own.get(path)).json.items, [], path);
    const months = `SELECT * FROM month_totals WHERE account_id=${idLiteral(payer.id)}`;
    assert.deepEqual(await db.sql(months), []);
  });

  it('an amount that would take the receiver beyond 64 bits is 400 out_of_range, and binds no key', async () => {
    const network = `net-${randomUUID()}`;
    const [own, other] = [await openBank(api, { network }), await openBank(api, { network })];
    const payer = await own.account({ funds: { COPM: 10n * LEAST } });
    const full = await other.account({ funds: { COPM: MAX - LEAST } });
    const key = randomUUID();
    const send = (raw: bigint): Promise<TestAnswer> =>
      own.send({ from: payer, to: full, raw }, { key });
    const { details } = answered(await send(LEAST + 1n), 400, 'invalid_field');
    assert.deepEqual([details?.field, details?.reason], ['amount.raw', 'out_of_range']);
    answered(await send(LEAST), 201);
    assert.deepEqual([await own.available(payer), await other.available(full)], [9n * LEAST, MAX]);
  });

  const NO_TEXT_OF_DIGITS = [
    ...['100000.00', '100,000', '100_000', '1e6', '+100000', '-100000', '-0', '0100000', '00'],
    ...[' 100000', '100000 ', '100000\n', '100000\u0000', '0x186a0', '100000n', '', 'NaN'],
    ...['\u0661\u0660\u0660\u0660\u0660\u0660', '\uff11\uff10\uff10\uff10\uff10\uff10'],
    ...[100_000, 100_000.5, 2 ** 53 + 2, true, ['100000'], { value: '100000' }],
  ];
  for (const [reason, amounts] of Object.entries({
    not_an_integer_string: NO_TEXT_OF_DIGITS,
    out_of_range: [
      `${MAX + 1n}`,
      `${2n ** 64n + 100_000n}`,
      `1${'0'.repeat(400)}`,
      '9'.repeat(6e4),
    ],
  }))
    it(`an amount that is not digits or does not fit 64 bits is 400 {field: "amount.raw", reason: "${reason}"}`, async () => {
      const payer = await bank.account();
      const good = transferBody({ from: payer, to: receiver, raw: 0n });
      for (const raw of amounts) {
        const body = { ...good, amount: { raw, asset: 'COPM' } };
        const answer = await bank.request('POST', '/v1/transfers', { body });
        const { details } = answered(answer, 400, 'invalid_field');
        assert.deepEqual([details?.field, details?.reason], ['amount.raw', reason]);
      }
    });

  it('a JSON number that a reader would round is refused, not rounded', async () => {
    const body = JSON.stringify(
      transferBody({ from: receiver, to: await bank.account(), raw: 0n }),
    );
    for (const raw of ['9007199254740993', '1e400', '100000.0', '-0']) {
      const numeric = body.replace('"raw":"0"', `"raw":${raw}`);
      const answer = await bank.request('POST', '/v1/transfers', { body: numeric });
      answered(answer, 400, 'invalid_field');
    }
  });

  for (const held of [2n ** 53n + 1n, MAX])
    it(`after a transfer, an account with ${held} has exactly the amount of the transfer less`, async () => {
      const own = await openBank(api);
      const from = await own.account({ funds: { COPM: held } });
      const to = await own.account();
      await own.sent({ from, to, raw: 100_001n });
      const { balances } = (await own.get(`/v1/accounts/${from.id}/balances`)).json;
      const left = (held - 100_001n).toString();
      assert.deepEqual(list(balances)[0], {
        ...{ asset: 'COPM', available: left, held: '0', total: left },
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
});
