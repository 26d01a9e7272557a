import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Account } from '../../src/db/entities/parties.js';
import { startTestApi, type TestAnswer } from '../support/api.js';
import { answered, idLiteral, type Json, LEAST, openBank, setStatus } from '../support/bank.js';
import { testDatabase } from '../support/database.js';

/** The limits of docs/contract.md, written out, so that a changed limit is seen. */
const LIMITS = {
  person: {
    COPM: { minimum: 100_000n, maximum: 1_200_000_000n, month: 5_000_000_000n },
    DUSD: { minimum: 100_000n, maximum: 3_000_000_000n, month: 12_000_000_000n },
  },
  business: {
    COPM: { minimum: 100_000n, maximum: 120_000_000_000n, month: 500_000_000_000n },
    DUSD: { minimum: 100_000n, maximum: 300_000_000_000n, month: 1_200_000_000_000n },
  },
} as const;
const PLENTY = 10n ** 15n;

const db = await testDatabase();
const api = await startTestApi(db);
const bank = await openBank(api);

describe('POST /v1/transfers: the rules about money', () => {
  let receiver: Account;

  before(async () => {
    receiver = await bank.account();
  });

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
      const payer = await bank.account({ funds: { COPM: LEAST } });
      await spoil(payer);
      for (const raw of [0n, LEAST, PLENTY])
        assertRefused(
          await bank.send({ from: payer, to: receiver, raw }),
          'capability_cannot_send',
          { reason },
        );
      await db.change(
        `UPDATE accounts SET status='active', verified_at=NOW(3) WHERE id=${idLiteral(payer.id)}`,
      );
      await bank.sent({ from: payer, to: receiver, raw: LEAST });
    });

  for (const type of ['person', 'business'] as const)
    for (const asset of ['COPM', 'DUSD'] as const) {
      const { minimum, maximum } = LIMITS[type][asset];

      it(`a ${type} sends at least ${minimum} of ${asset} at once, else 422 below_minimum {minimum, requested, asset}`, async () => {
        const payer = await bank.account({ type, funds: { [asset]: minimum } });
        for (const raw of [0n, 1n, minimum - 1n])
          assertRefused(
            await bank.send({ from: payer, to: receiver, raw, asset }),
            'below_minimum',
            {
              minimum: minimum.toString(),
              requested: raw.toString(),
              asset,
            },
          );
        await bank.sent({ from: payer, to: receiver, raw: minimum, asset });
      });

      it(`a ${type} sends at most ${maximum} of ${asset} at once, else 422 above_per_operation_limit {maximum, requested, asset}`, async () => {
        const payer = await bank.account({ type, funds: { [asset]: maximum } });
        for (const raw of [maximum + 1n, 2n ** 63n - 1n])
          assertRefused(
            await bank.send({ from: payer, to: receiver, raw, asset }),
            'above_per_operation_limit',
            {
              maximum: maximum.toString(),
              requested: raw.toString(),
              asset,
            },
          );
        await bank.sent({ from: payer, to: receiver, raw: maximum, asset });
      });
    }

  it('an amount over what is available is 422 insufficient_funds {available, requested}', async () => {
    const payer = await bank.account({ funds: { COPM: 3n * LEAST, DUSD: PLENTY } });
    const refuse = async (raw: bigint): Promise<void> =>
      assertRefused(await bank.send({ from: payer, to: receiver, raw }), 'insufficient_funds', {
        available: (3n * LEAST).toString(),
        requested: raw.toString(),
      });
    await refuse(3n * LEAST + 1n);
    await bank.fund(payer, { raw: 1n, asset: 'COPM' });
    await bank.sent({ from: payer, to: receiver, raw: 3n * LEAST + 1n });
  });

  it('the rules are checked in order: minimum, maximum, month, funds', async () => {
    const { maximum, month } = LIMITS.person.COPM;
    const payer = await bank.account({ type: 'person' });
    const code = async (raw: bigint): Promise<string | undefined> =>
      (await bank.send({ from: payer, to: receiver, raw })).code;
    // There are no funds at all, so whatever comes first is not the funds.
    assert.deepEqual(
      [await code(1n), await code(maximum + 1n)],
      ['below_minimum', 'above_per_operation_limit'],
    );
    assert.equal(await code(maximum), 'insufficient_funds');
    await bank.fund(payer, { raw: month, asset: 'COPM' });
    for (let used = 0n; used + maximum <= month; used += maximum)
      await bank.sent({ from: payer, to: receiver, raw: maximum });
    // 200,000,000 of the month and of the funds are left.
    assert.equal(await code(maximum), 'monthly_limit_exceeded');
    assert.equal(await code(maximum + 1n), 'above_per_operation_limit');
    assert.equal(await code(LEAST - 1n), 'below_minimum');
    await bank.sent({ from: payer, to: receiver, raw: month % maximum });
    assert.equal(await code(LEAST), 'monthly_limit_exceeded');
  });

  it('a 422 is bound to its key forever: the same words again, though its cause is gone; a new key acts', async () => {
    const key = randomUUID();
    const payer = await bank.account();
    const first = answered(
      await bank.send({ from: payer, to: receiver, raw: LEAST }, { key }),
      422,
      'insufficient_funds',
    );
    assert.equal(first.headers.get('svc-idempotent-replayed'), null);
    await bank.fund(payer, { raw: LEAST, asset: 'COPM' });
    const again = answered(
      await bank.send({ from: payer, to: receiver, raw: LEAST }, { key }),
      422,
      'insufficient_funds',
    );
    assert.equal(again.headers.get('svc-idempotent-replayed'), 'true');
    assert.equal(again.text, first.text);
    answered(
      await bank.send({ from: payer, to: receiver, raw: LEAST + 1n }, { key }),
      409,
      'idempotency_key_reused',
    );
    await bank.sent({ from: payer, to: receiver, raw: LEAST });
  });

  it('what was refused counts for nothing: no transfer, no event, no month, no movement', async () => {
    const own = await openBank(api);
    const payer = await own.account({ type: 'person' });
    const to = await own.account();
    const key = randomUUID();
    answered(await own.send({ from: payer, to, raw: LEAST }, { key }), 422, 'insufficient_funds');
    for (const path of [
      '/v1/transfers',
      `/v1/transfers?idempotency_key=${key}`,
      '/v1/events',
      `/v1/accounts/${payer.id}/movements`,
    ])
      assert.deepEqual((await own.get(path)).json.items, [], path);
    assert.deepEqual(
      await db.sql(`SELECT * FROM month_totals WHERE account_id=${idLiteral(payer.id)}`),
      [],
    );
  });

  it('an amount that would take the receiver beyond 64 bits is 400 out_of_range, binds no key, and harms nothing', async () => {
    const network = `net-${randomUUID()}`;
    const [own, other] = [await openBank(api, { network }), await openBank(api, { network })];
    const payer = await own.account({ funds: { COPM: 10n * LEAST } });
    const full = await other.account({ funds: { COPM: 2n ** 63n - 1n - LEAST } });
    const key = randomUUID();
    const refused = answered(
      await own.send({ from: payer, to: full, raw: LEAST + 1n }, { key }),
      400,
      'invalid_field',
    );
    assert.deepEqual(
      [refused.details?.field, refused.details?.reason],
      ['amount.raw', 'out_of_range'],
    );
    answered(await own.send({ from: payer, to: full, raw: LEAST }, { key }), 201);
    assert.deepEqual(
      [await own.available(payer), await other.available(full)],
      [9n * LEAST, 2n ** 63n - 1n],
    );
  });
});
