import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { asUuid } from '../../src/core/ids.js';
import { payoutSecrets } from '../../src/db/entities/payouts.js';
import { openSecrets } from '../../src/payouts/service.js';
import { startTestApi, TEST_KEYRING } from '../helpers/api.js';
import { answered, LEAST, list, object, setStatus, text } from '../helpers/bank.js';
import { testDatabase } from '../helpers/database.js';
import { describedApi } from '../helpers/described.js';
import { balanceOf } from '../helpers/world.js';
import {
  accountNumber,
  assertSameStory,
  DOCUMENT,
  HOLDER,
  openPayoutBank,
  payoutBody,
  type PayoutBank,
  statusesOf,
} from './support.js';

const db = await testDatabase();
const api = await describedApi(await startTestApi(db));

describe('POST /v1/payouts', () => {
  let own: PayoutBank;

  beforeEach(async () => {
    own = await openPayoutBank(api);
  });

  it('approves a payout that needs no approval, holds amount and fee, and emits an event', async () => {
    const answer = answered(
      await own.ask({ raw: 5n * LEAST, description: 'to the bank' }),
      201,
    ).json;
    const id = text(answer.id);
    assert.deepEqual(await own.get(id), answer);
    const { created_at: at } = answer;
    assert.deepEqual(answer, {
      id,
      scope: 'external',
      status: 'approved',
      source_account: own.source.id,
      destination: {
        type: 'bank_account',
        country: 'CO',
        bank_code: '0007',
        account_type: 'savings',
        account_number: '****4099',
        holder_name: HOLDER,
      },
      amount: { raw: (5n * LEAST).toString(), asset: 'COPM' },
      fee: { raw: '0', asset: 'COPM' },
      description: 'to the bank',
      metadata: {},
      created_at: at,
      approval: null,
      rejection: null,
      failure: null,
      batch: null,
      reference: null,
      rail_reference: null,
      status_transitions: [{ status: 'approved', at }],
    });
    assert.deepEqual(await balanceOf(db.database, own.source.id), {
      available: 9_995n * LEAST,
      held: 5n * LEAST,
    });
    await assertSameStory(own, id);
  });

  it('keeps the account number and document sealed, each usable only for its own payout', async () => {
    const id = await own.pay();
    const secrets = await db.database.reader.find(payoutSecrets, { id });
    assert(secrets !== undefined);
    assert.deepEqual(openSecrets(TEST_KEYRING, secrets), {
      accountNumber: accountNumber(),
      holderDocument: DOCUMENT,
    });
    assert.throws(() => openSecrets(TEST_KEYRING, { ...secrets, id: asUuid(randomUUID()) }));
    const dump =
      JSON.stringify(await db.sql('SELECT * FROM payouts')) +
      JSON.stringify(await db.sql('SELECT * FROM events'));
    assert(!dump.includes(accountNumber()) && !dump.includes(DOCUMENT));
  });

  it('answers a repeated key with the payout as it is now, and 409 to another body', async () => {
    const key = randomUUID();
    const first = answered(await own.ask({}, { key }), 201).json;
    answered(await own.act('cancel', text(first.id), own.bank.token), 200);
    const again = answered(await own.ask({}, { key }), 200);
    assert.equal(again.headers.get('svc-idempotent-replayed'), 'true');
    assert.deepEqual([again.json.id, again.json.status], [first.id, 'canceled']);
    answered(await own.ask({ ending: '98' }, { key }), 409, 'idempotency_key_reused');
    const found = answered(await own.bank.get(`/v1/payouts?idempotency_key=${key}`), 200).json;
    assert.deepEqual(
      list(found.items).map(({ id }) => id),
      [first.id],
    );
  });

  it('refuses an invalid destination, and says why', async () => {
    for (const [field, value, reason] of [
      ['type', 'account', 'not_one_of: bank_account, bre_b_key'],
      ['country', 'XX', 'not_a_country'],
      ['country', 'co', 'not_a_country'],
      ['bank_code', 'a', 'malformed'],
      ['account_number', '123', 'malformed'],
      ['account_number', '1'.repeat(35), 'malformed'],
      ['account_number', '1234-5678', 'malformed'],
      ['holder_document', 'abc', 'malformed'],
    ] as const) {
      const { details } = answered(
        await own.ask({ destination: { [field]: value } }),
        400,
        'invalid_field',
      );
      assert.deepEqual([details?.field, details?.reason], [`destination.${field}`, reason]);
    }
  });

  it('refuses a country that no rail pays out to, and leaves the key free', async () => {
    const other = await startTestApi(db, { PAYOUT_RAILS: '*/US=simulated' });
    try {
      const key = randomUUID();
      const there = await other.request('POST', '/v1/payouts', {
        token: own.bank.token,
        key,
        body: payoutBody({ from: own.source }),
      });
      answered(there, 400, 'invalid_field');
      assert.deepEqual(
        [there.details?.field, there.details?.reason],
        ['destination.country', 'not_supported'],
      );
      answered(await own.ask({}, { key }), 201);
    } finally {
      await other.stop();
    }
  });

  it('follows the rules for all spending, in order', async () => {
    answered(await own.ask({ raw: 1n }), 422, 'below_minimum');
    answered(await own.ask({ raw: 10_001n * LEAST }), 422, 'insufficient_funds');
    answered(await own.ask({ raw: 120_000_000_001n }), 422, 'above_per_operation_limit');
    answered(
      await own.ask({ from: await own.bank.account({ isVerified: false }) }),
      422,
      'capability_cannot_send',
    );
    answered(await own.ask({ from: { id: asUuid(randomUUID()) } }), 404, 'not_found');
    answered(await own.ask({}, { token: own.approvers[0] }), 403, 'authority_insufficient');
    await setStatus(db, own.source, 'frozen');
    answered(await own.ask(), 422, 'capability_cannot_send');
  });

  it('counts toward its month from creation, until it is canceled', async () => {
    const used = async (): Promise<unknown> => {
      const { limits } = answered(
        await own.bank.get(`/v1/accounts/${own.source.id}/limits`),
        200,
      ).json;
      return object(list(limits).find(({ asset }) => asset === 'COPM')!.month).used;
    };
    const id = await own.pay(undefined, { raw: 7n * LEAST });
    assert.equal(await used(), (7n * LEAST).toString());
    answered(await own.act('cancel', id, own.bank.token), 200);
    assert.equal(await used(), '0');
  });

  describe('that needs approval', () => {
    beforeEach(() => own.guard(2));

    it('a payout that needs approval can be canceled by its creator while it is pending or approved, but not by an approver', async () => {
      const [pending, approved] = [await own.createPending(), await own.createPending()];
      answered(await own.act('cancel', pending, own.approvers[0]), 403, 'authority_insufficient');
      answered(await own.act('cancel', pending), 200);
      answered(await own.act('approve', approved), 200);
      answered(await own.act('approve', approved, own.approvers[1]), 200);
      const canceled = answered(await own.act('cancel', approved), 200).json;
      assert.deepEqual(statusesOf(canceled), ['pending_approval', 'approved', 'canceled']);
      const { details } = answered(await own.act('cancel', approved), 409, 'invalid_state');
      assert.deepEqual(details, { current: 'canceled', allowed: ['pending_approval', 'approved'] });
      for (const id of [pending, approved]) await assertSameStory(own, id);
      assert.equal((await balanceOf(db.database, own.source.id)).held, 0n);
    });
  });
});
