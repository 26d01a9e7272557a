import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setFeeAccount } from '../../src/operations/fees.js';
import type { Account } from '../../src/db/entities/parties.js';
import { type RequestOptions, startTestApi, type TestAnswer } from '../helpers/api.js';
import {
  answered,
  type Bank,
  idLiteral,
  type Json,
  LEAST,
  list,
  openBank,
  setStatus,
  text,
  walk,
} from '../helpers/bank.js';
import { testDatabase } from '../helpers/database.js';
import { setFee, TEST_ACTOR } from '../helpers/world.js';

const db = await testDatabase();
const api = await startTestApi(db);

describe('POST /v1/bonuses', () => {
  let bank: Bank;
  let payer: Account;
  let receiver: Account;
  let phone = 3_001_000_000;

  beforeEach(async () => {
    bank = await openBank(api);
    payer = await bank.account({ funds: { COPM: 100n * LEAST, DUSD: 100n * LEAST } });
    receiver = await bank.account({ alias: '$ana', phone: nextPhone() });
  });

  const nextPhone = (): string => `+57${(phone += 1)}`;

  const bodyOf = (recipient: Json, more: Json = {}, raw: bigint | string = LEAST): Json => ({
    source_account: payer.id,
    recipient,
    amount: { raw: raw.toString(), asset: 'COPM' },
    ...more,
  });
  const pay = (
    recipient: Json,
    more: Json = {},
    options: RequestOptions = {},
    raw?: bigint,
  ): Promise<TestAnswer> =>
    bank.request('POST', '/v1/bonuses', { body: bodyOf(recipient, more, raw), ...options });

  it('answers 201 with the paid bonus and its itemised fee, moves exactly that, and makes no event', async () => {
    const fees = await bank.account();
    await charge(fees, 700n);
    const answer = answered(
      await pay({ account_id: receiver.id }, { description: 'Well done', reference: 'nov-1' }),
      201,
    );
    const { id, created_at: at, ...rest } = answer.json;
    assert.deepEqual(rest, {
      status: 'completed',
      source_account: payer.id,
      recipient: { account_id: receiver.id },
      amount: { raw: '100000', asset: 'COPM' },
      fee: { raw: '700', asset: 'COPM' },
      total_debited: { raw: '100700', asset: 'COPM' },
      refunded: { raw: '0', asset: 'COPM' },
      description: 'Well done',
      metadata: {},
      reference: 'nov-1',
    });
    assert.match(text(at), /Z$/);
    assert.deepEqual(answered(await bank.get(`/v1/bonuses/${text(id)}`), 200).json, answer.json);
    for (const [account, left, ...kinds] of [
      [payer, 99n * LEAST - 700n, 'fee_out', 'bonus_out', 'payin_in', 'payin_in'],
      [receiver, LEAST, 'bonus_in'],
      [fees, 700n, 'adjustment_in'],
    ] as const) {
      const movements = await walk(bank, `/v1/accounts/${account.id}/movements`);
      assert.deepEqual(
        [await bank.available(account), movements.map(({ kind }) => kind)],
        [left, kinds],
      );
      for (const { kind, related } of movements)
        if (kind !== 'payin_in') assert.deepEqual(related, { type: 'bonus', id });
    }
    assert.deepEqual(await walk(bank, '/v1/events'), []);
  });

  it('finds the recipient by alias or phone in any spelling', async () => {
    const stored = text(receiver.phone);
    for (const recipient of [
      { alias: '$ana' },
      { alias: '$ANA' },
      { phone: stored },
      { phone: stored.slice(3) },
    ])
      assert.deepEqual(answered(await pay(recipient), 201).json.recipient, {
        account_id: receiver.id,
      });
    assert.equal(await bank.available(receiver), 4n * LEAST);
  });

  it('accepts exactly one of account_id, alias and phone', async () => {
    for (const recipient of [{}, { alias: '$ana', account_id: receiver.id }, { alias: null }]) {
      const refused = answered(await pay(recipient), 400, 'invalid_field');
      assert.equal(refused.details?.field, 'recipient');
    }
    for (const [recipient, field] of [
      [{ alias: 'ana' }, 'recipient.alias'],
      [{ phone: 'x' }, 'recipient.phone'],
      [{ account_id: 'x' }, 'recipient.account_id'],
      [{ email: 'a@b.c' }, 'recipient.email'],
    ] as const)
      assert.equal(answered(await pay(recipient), 400, 'invalid_field').details?.field, field);
  });

  it('accepts a reference of 1 to 64 characters and a description of up to 140', async () => {
    const most = { reference: 'ñ'.repeat(64), description: 'é'.repeat(140) };
    const { reference, description } = answered(await pay({ alias: '$ana' }, most), 201).json;
    assert.deepEqual({ reference, description }, most);
    for (const more of [
      { reference: '' },
      { reference: 'x'.repeat(65) },
      { reference: 'a\nb' },
      { description: 'x'.repeat(141) },
    ])
      answered(await pay({ alias: '$ana' }, more), 400, 'invalid_field');
  });

  it('answers 404 for an unknown name, a closed account, an account of another tenant and a released alias', async () => {
    const stranger = await openBank(api);
    const foreign = await stranger.account({ alias: '$foreign', phone: nextPhone() });
    const closed = await bank.account({ alias: '$closed' });
    await setStatus(db, closed, 'closed');
    const missing = answered(await pay({ account_id: randomUUID() }), 404, 'not_found').text;
    for (const recipient of [
      { account_id: foreign.id },
      { alias: '$foreign' },
      { phone: foreign.phone },
      { account_id: closed.id },
      { alias: '$closed' },
      { alias: '$nobody' },
      { phone: nextPhone() },
    ])
      assert.equal(answered(await pay(recipient), 404, 'not_found').text, missing);
    answered(await bank.request('DELETE', `/v1/accounts/${receiver.id}/alias`), 204);
    answered(await pay({ alias: '$ana' }), 404, 'not_found');
  });

  it("pays within a network by id and by a phone that only one account has; a phone of several accounts is 404, and the tenant's own account comes first", async () => {
    const network = `net-${randomUUID()}`;
    const [home, one, two] = [
      await openBank(api, { network }),
      await openBank(api, { network }),
      await openBank(api, { network }),
    ];
    const from = await home.account({ funds: { COPM: 10n * LEAST } });
    const [unique, shared] = [nextPhone(), nextPhone()];
    const single = await one.account({ phone: unique, alias: '$single' });
    await one.account({ phone: shared });
    await two.account({ phone: shared });
    const send = (recipient: Json): Promise<TestAnswer> =>
      home.request('POST', '/v1/bonuses', {
        body: { ...bodyOf(recipient), source_account: from.id },
      });
    for (const recipient of [{ account_id: single.id }, { phone: unique }])
      assert.deepEqual(answered(await send(recipient), 201).json.recipient, {
        account_id: single.id,
      });
    answered(await send({ phone: shared }), 404, 'not_found');
    answered(await send({ alias: '$single' }), 404, 'not_found');
    const own = await home.account({ phone: shared });
    assert.deepEqual(answered(await send({ phone: shared }), 201).json.recipient, {
      account_id: own.id,
    });
  });

  it('refuses the source as recipient, by any of its names', async () => {
    await db.change(`UPDATE accounts SET alias='$payer' WHERE id=${idLiteral(payer.id)}`);
    for (const recipient of [{ account_id: payer.id }, { alias: '$payer' }])
      assert.equal(
        answered(await pay(recipient), 400, 'invalid_field').details?.reason,
        'same_as_source',
      );
  });

  it('refuses by the rules in their order: capability, minimum, maximum, month, funds', async () => {
    const person = await bank.account({ type: 'person', funds: { COPM: 2_000n * LEAST } });
    const code = async (from: Account, raw: bigint): Promise<string | undefined> =>
      (
        await bank.request('POST', '/v1/bonuses', {
          body: { ...bodyOf({ alias: '$ana' }, {}, raw), source_account: from.id },
        })
      ).code;
    const over = 1_200_000_001n;
    assert.equal(await code(person, LEAST - 1n), 'below_minimum');
    assert.equal(await code(person, 0n), 'below_minimum');
    assert.equal(await code(person, over), 'above_per_operation_limit');
    assert.equal(await code(person, 1_200_000_000n), 'insufficient_funds');
    await db.change(
      `INSERT INTO account_limits VALUES (${idLiteral(person.id)}, 'COPM', NULL, NULL, 150000)`,
    );
    assert.equal(await code(person, 1_200_000_000n), 'monthly_limit_exceeded');
    assert.equal(await code(person, LEAST), undefined);
    assert.equal(await code(person, LEAST), 'monthly_limit_exceeded');
    await setStatus(db, person, 'frozen');
    assert.equal(await code(person, 0n), 'capability_cannot_send');
  });

  it('counts the amount, but not the fee, in the month that transfers also use', async () => {
    await charge(await bank.account(), 700n);
    answered(await pay({ alias: '$ana' }), 201);
    await bank.sent({ from: payer, to: receiver, raw: LEAST });
    const [copm] = list(
      answered(await bank.get(`/v1/accounts/${payer.id}/limits`), 200).json.limits,
    );
    assert.equal((copm?.month as Json).used, (2n * LEAST).toString());
  });

  it('needs funds for the fee too, except from the fee account, which pays none', async () => {
    await charge(await bank.account(), 700n);
    const answer = await pay({ alias: '$ana' }, {}, {}, 100n * LEAST);
    const { details } = answered(answer, 422, 'insufficient_funds');
    assert.deepEqual(details, { available: '10000000', requested: '10000700' });
    await charge(payer, 700n);
    answered(await pay({ alias: '$ana' }, {}, {}, 100n * LEAST), 201);
  });

  it('replays 200 with the same bonus even if the alias was released and the role removed; another body is 409', async () => {
    const key = randomUUID();
    const first = answered(await pay({ alias: '$ana' }, {}, { key }), 201);
    answered(await bank.request('DELETE', `/v1/accounts/${receiver.id}/alias`), 204);
    const again = answered(await pay({ alias: '$ana' }, {}, { key }), 200);
    assert.equal(again.headers.get('svc-idempotent-replayed'), 'true');
    assert.deepEqual(again.json, first.json);
    answered(await pay({ account_id: receiver.id }, {}, { key }), 409, 'idempotency_key_reused');
    assert.equal(await bank.available(receiver), LEAST);
  });

  it('acts once for many simultaneous requests of a key', async () => {
    const key = randomUUID();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => pay({ alias: '$ana' }, {}, { key })),
    );
    assert.deepEqual(answers.map(({ status }) => status).sort(), [
      ...Array<number>(19).fill(200),
      201,
    ]);
    assert.equal(new Set(answers.map(({ json }) => json.id)).size, 1);
    assert.equal(await bank.available(receiver), LEAST);
  });

  it('is refused from the approval threshold of its source on, because a bonus cannot wait for approval', async () => {
    await bank.guard(payer, { threshold: 2n * LEAST });
    const ask = async (raw: bigint) => {
      const { status, code, details } = await pay({ account_id: receiver.id }, {}, {}, raw);
      return status === 201 ? 'paid' : [code, details?.reason];
    };
    const refused = ['authority_insufficient', 'above_approval_threshold'];
    assert.deepEqual(
      [await ask(2n * LEAST - 1n), await ask(2n * LEAST), await ask(3n * LEAST)],
      ['paid', refused, refused],
    );
    const unknown = answered(await pay({ alias: '$nobody.here' }), 404, 'not_found');
    assert.deepEqual(unknown.details, { field: 'recipient' });
  });

  it('GET /v1/bonuses lists newest first, by source, by time and by key; each is shown to members with a role at either end', async () => {
    const key = randomUUID();
    const made = [];
    for (const more of [{ key }, {}, {}])
      made.unshift(answered(await pay({ alias: '$ana' }, {}, more), 201).json);
    const other = await bank.account({ funds: { COPM: 10n * LEAST } });
    const last = answered(
      await bank.request('POST', '/v1/bonuses', {
        body: { ...bodyOf({ alias: '$ana' }), source_account: other.id },
      }),
      201,
    ).json;
    assert.deepEqual(await walk(bank, '/v1/bonuses?limit=1'), [last, ...made]);
    assert.deepEqual(await walk(bank, `/v1/bonuses?source_account=${payer.id}&limit=2`), made);
    assert.deepEqual(await walk(bank, `/v1/bonuses?idempotency_key=${key}`), [made[2]]);
    assert.deepEqual(
      await walk(bank, `/v1/bonuses?idempotency_key=${key}&source_account=${other.id}`),
      [],
    );
    assert.deepEqual(await walk(bank, '/v1/bonuses?created_at[lte]=2020-01-01T00:00:00Z'), []);

    const member = await bank.member();
    const token = await bank.issue(member, ['bonuses']);
    const seen = async (): Promise<unknown> =>
      list((await bank.request('GET', '/v1/bonuses', { token })).json.items);
    assert.deepEqual(await seen(), []);
    answered(
      await bank.request('GET', `/v1/bonuses/${text(last.id)}`, { token }),
      403,
      'authority_insufficient',
    );
    await db.change(
      `INSERT INTO member_roles VALUES (${idLiteral(receiver.id)}, ${idLiteral(member.id)}, 'viewer')`,
    );
    assert.deepEqual(await seen(), [last, ...made]);
    answered(await bank.request('GET', `/v1/bonuses/${text(last.id)}`, { token }), 200);
  });

  async function charge(account: Account, flatRaw: bigint): Promise<void> {
    const tenantId = bank.tenant.tenant.id;
    await setFeeAccount(db.deps, tenantId, account.id, TEST_ACTOR);
    await setFee(db.database, { tenantId, operation: 'bonus', flatRaw });
  }
});
