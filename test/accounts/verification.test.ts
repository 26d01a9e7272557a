import assert from 'node:assert/strict';
import { closeAccount, freezeAccount } from '../../src/accounts/status.js';
import type { Account } from '../../src/db/entities/parties.js';
import { startTestApi, type TestAnswer } from '../helpers/api.js';
import {
  answered,
  type Bank,
  idLiteral,
  type Json,
  LEAST,
  list,
  object,
  openBank,
} from '../helpers/bank.js';
import { testDatabase } from '../helpers/database.js';
import { TEST_ACTOR } from '../helpers/world.js';

const DECIDED = { actor: TEST_ACTOR, reason: null };
const DECLARED = {
  type: 'person',
  legal_name: 'Ana María Pérez Gómez',
  document_type: 'CC',
  document_number: '1020304050',
  country: 'CO',
} as const;

const db = await testDatabase();
const api = await startTestApi(db);

describe('the verification of an account', () => {
  let bank: Bank;
  let account: Account;

  beforeEach(async () => {
    bank = await openBank(api);
    account = await bank.account({ type: 'person', isVerified: false, funds: { COPM: LEAST } });
  });

  const declare = (changes: Json = {}, of = account, own = bank): Promise<TestAnswer> =>
    own.request('PUT', `/v1/accounts/${of.id}/verification`, { body: { ...DECLARED, ...changes } });
  const verifiedEvents = async (own = bank): Promise<Json[]> =>
    list((await own.get('/v1/events?type=account.verified')).json.items);
  const stored = async (): Promise<Record<string, unknown> | undefined> =>
    (await db.sql(`SELECT * FROM verifications WHERE account_id=${idLiteral(account.id)}`))[0];

  it('an account can send only after its verification; before, it gets 422 capability_cannot_send {reason: "not_verified"}', async () => {
    const to = await bank.account();
    const beforeAnswer = await bank.send({ from: account, to, raw: LEAST });
    const before = answered(beforeAnswer, 422, 'capability_cannot_send');
    assert.deepEqual(before.details, { reason: 'not_verified' });
    answered(await declare(), 200);
    answered(await bank.send({ from: account, to, raw: LEAST }), 201);
  });

  it('declaring a verification returns its time and the last four characters of the document; declaring it again replaces the data, and account.verified is emitted once', async () => {
    const { json } = answered(await declare(), 200);
    const { verified_at: verifiedAt } = (await bank.get(`/v1/accounts/${account.id}`)).json;
    assert.deepEqual(json, {
      account_id: account.id,
      status: 'verified',
      can_send: true,
      verified_at: verifiedAt,
      document_last4: '4050',
    });
    assert.match(String(verifiedAt), /^\d{4}-.*Z$/);
    const again = { legal_name: 'Ana Pérez', document_type: 'PASS', country: 'US' };
    const number = 'AX-123.4567';
    const second = answered(await declare({ ...again, document_number: number }), 200).json;
    assert.deepEqual(second, { ...json, document_last4: '4567' });
    const { legal_name, document_type, country } = (await stored()) ?? {};
    assert.deepEqual({ legal_name, document_type, country }, again);
    const [event, ...others] = await verifiedEvents();
    assert.deepEqual(
      [others, object(event?.data).object, event?.api_version],
      [[], json, '2026-11-01'],
    );
  });

  it('simultaneous declarations of a verification emit one event, and none fails', async () => {
    const numbers = Array.from({ length: 16 }, (_, index) => String(10_000_000 + index));
    const answers = await Promise.all(
      numbers.map((number) => declare({ document_number: number })),
    );
    const verifiedAt = new Set(answers.map((answer) => answered(answer, 200).json.verified_at));
    assert.deepEqual([verifiedAt.size, (await verifiedEvents()).length], [1, 1]);
  });

  it('keeps declared_at, by default now', async () => {
    await declare({ declared_at: '2020-02-29T12:00:00.5-05:00' });
    assert.equal((await stored())?.declared_at, '2020-02-29 17:00:00.500');
    await declare();
    assert.notEqual((await stored())?.declared_at, '2020-02-29 17:00:00.500');
  });

  it('a verification dated in the future is 400 {field: declared_at}, unless clock differences explain it', async () => {
    const in10s = new Date(Date.now() + 10_000).toISOString();
    answered(await declare({ declared_at: in10s }), 200);
    for (const later of [new Date(Date.now() + 120_000).toISOString(), '9999-12-31T23:59:59Z']) {
      const { details } = answered(await declare({ declared_at: later }), 400, 'invalid_field');
      assert.deepEqual([details?.field, details?.reason], ['declared_at', 'in_the_future']);
    }
    assert.equal((await stored())?.declared_at, in10s.replace('T', ' ').replace('Z', ''));
  });

  it('the verification of a frozen account is accepted with can_send false; that of a closed one is 409 invalid_state {current: "closed"}', async () => {
    await freezeAccount(db.deps, account.id, DECIDED);
    assert.equal(answered(await declare(), 200).json.can_send, false);
    const empty = await bank.account({ type: 'person', isVerified: false });
    await closeAccount(db.deps, empty.id, DECIDED);
    const refused = answered(await declare({}, empty), 409, 'invalid_state');
    assert.deepEqual(refused.details, { current: 'closed', allowed: ['active', 'frozen'] });
  });

  it("a verification of another type than the account's is 400 {field: type}, and is not stored", async () => {
    const { details } = answered(await declare({ type: 'business' }), 400, 'invalid_field');
    assert.deepEqual([details?.field, details?.reason], ['type', 'not_the_type_of_the_account']);
    assert.equal(await stored(), undefined);
  });

  it('with a malformed field is 400 {field, reason}', async () => {
    for (const [field, value, reason] of [
      ['legal_name', '   ', 'too_short'],
      ['document_number', '1234', 'malformed'],
      ['document_number', '1'.repeat(21), 'malformed'],
      ['document_number', '12345 6789', 'malformed'],
      ['document_number', '١٢٣٤٥٦', 'malformed'],
      ['country', 'XX', 'not_a_country'],
      ['country', 'co', 'not_a_country'],
      ['country', 'XK', 'not_a_country'],
    ] as const) {
      const { details } = answered(await declare({ [field]: value }), 400, 'invalid_field');
      assert.deepEqual([details?.field, details?.reason], [field, reason]);
    }
  });
});
