import assert from 'node:assert/strict';
import { randomInt, randomUUID } from 'node:crypto';
import { closeAccount, freezeAccount } from '../../src/accounts/status.js';
import { startTestApi, type TestAnswer } from '../helpers/api.js';
import { answered, type Bank, openBank } from '../helpers/bank.js';
import { testDatabase } from '../helpers/database.js';
import { TEST_ACTOR } from '../helpers/world.js';

const DECIDED = { actor: TEST_ACTOR, reason: null };

/** A phone that no other test has. */
function newPhone(): string {
  return `+57310${randomInt(1_000_000, 9_999_999)}`;
}

const db = await testDatabase();
const api = await startTestApi(db);
const bank = await openBank(api);

describe('a lookup', () => {
  const lookUp = (query: string, own = bank): Promise<TestAnswer> =>
    own.get(`/v1/accounts/lookup${query}`);
  const byAlias = (alias: string, own = bank): Promise<TestAnswer> =>
    lookUp(`?alias=${encodeURIComponent(alias)}`, own);
  const byPhone = (phone: string, own = bank): Promise<TestAnswer> =>
    lookUp(`?phone=${encodeURIComponent(phone)}`, own);
  const withoutRequestId = ({ status, text, headers }: TestAnswer): unknown => [
    status,
    text,
    headers.get('content-length'),
    headers.get('content-type'),
  ];

  it('answers the account, its alias, its name and its type, and nothing else: a person abbreviated, a business by its trade name', async () => {
    const phone = newPhone();
    for (const [type, name, alias, display_name] of [
      ['person', 'Ana María Pérez', '$lookup.ana', 'Ana M. P.'],
      ['business', 'La Tienda de Ana', null, 'La Tienda de Ana'],
    ] as const) {
      const own = await openBank(api);
      const { id } = await own.account({ type, name, phone, ...(alias === null ? {} : { alias }) });
      for (const answer of [byPhone(phone, own), ...(alias === null ? [] : [byAlias(alias, own)])])
        assert.deepEqual(answered(await answer, 200).json, {
          ...{ account_id: id, alias, display_name, type },
        });
    }
  });

  it('by neither or by both of alias and phone is 400 missing_query, without details', async () => {
    for (const query of ['', '?', '?alias=&phone=', '?phone=', '?alias=$ana&phone=3001112233'])
      assert.equal(answered(await lookUp(query), 400, 'missing_query').details, undefined);
  });

  it('of a malformed alias or phone is 400 {field, reason: "malformed"}', async () => {
    for (const text of ['ana', '$ana ', '$\u212Aelvin'])
      assertMalformed(await byAlias(text), 'alias');
    for (const text of ['abc', ' ', '60123456,75']) assertMalformed(await byPhone(text), 'phone');
  });

  function assertMalformed(answer: TestAnswer, field: string): void {
    const { details } = answered(answer, 400, 'invalid_field');
    assert.deepEqual([details?.field, details?.reason], [field, 'malformed']);
  }

  it('refuses an unknown parameter and a repeated one', async () => {
    for (const query of ['?alias=$ana&x=1', '?alias=$ana&alias=$bob', '?email=a'])
      answered(await lookUp(query), 400, 'invalid_field');
  });

  it('accepts an alias in any case, with its $ URL-encoded or not', async () => {
    const { id } = await bank.account({ alias: '$casa.blanca' });
    for (const alias of ['$casa.blanca', '%24CASA.Blanca', '%24%63asa%2Eblanca'])
      assert.equal(answered(await lookUp(`?alias=${alias}`), 200).json.account_id, id);
  });

  it('accepts a phone in any format, including an unencoded +', async () => {
    const { id } = await bank.account({ phone: '+573105550101' });
    for (const phone of ['(310) 555-0101', '00573105550101'])
      assert.equal(answered(await byPhone(phone), 200).json.account_id, id, phone);
    // A number of Italy, which without its + would be read as one of Colombia.
    const foreign = await bank.account({ phone: '+393105550101' });
    for (const [phone, found] of [
      ['+573105550101', id],
      ['+393105550101', foreign.id],
      ['+39+310+555+0101', foreign.id],
      ['%2B393105550101', foreign.id],
    ])
      assert.equal(answered(await lookUp(`?phone=${phone}`), 200).json.account_id, found, phone);
  });

  it('of a missing, foreign, closed or system account gives the same bytes', async () => {
    const other = await openBank(api);
    const phone = newPhone();
    await other.account({ alias: '$foreign.one', phone });
    const closed = await bank.account({ alias: '$closed.one', phone: newPhone() });
    await closeAccount(db.deps, closed.id, DECIDED);
    const missing = withoutRequestId(answered(await byAlias('$nobody.here'), 404, 'not_found'));
    for (const answer of [
      await byAlias('$foreign.one'),
      await byAlias('$closed.one'),
      await byAlias('$pay_in'),
    ])
      assert.deepEqual(withoutRequestId(answer), missing);
    const unknown = withoutRequestId(answered(await byPhone(newPhone()), 404, 'not_found'));
    for (const answer of [await byPhone(phone), await byPhone(closed.phone ?? '')])
      assert.deepEqual(withoutRequestId(answer), unknown);
  });

  it('finds a frozen account: it may receive', async () => {
    const { id } = await bank.account({ alias: '$frozen.one' });
    await freezeAccount(db.deps, id, DECIDED);
    assert.equal(answered(await byAlias('$frozen.one'), 200).json.account_id, id);
  });

  describe('of a phone within a network', () => {
    const network = `net-${randomUUID()}`;
    let near: Bank;
    let nearer: Bank;
    let far: Bank;

    before(async () => {
      near = await openBank(api, { network });
      nearer = await openBank(api, { network });
      far = await openBank(api, { network: `${network}-b` });
    });

    it("of a phone in a network finds the one account of the network that has it, and the caller's own before it", async () => {
      const phone = newPhone();
      const { id } = await nearer.account({ phone, alias: '$near.one' });
      const { json } = answered(await byPhone(phone, near), 200);
      assert.deepEqual([json.account_id, json.alias], [id, '$near.one']);
      const own = await near.account({ phone });
      assert.equal(answered(await byPhone(phone, near), 200).json.account_id, own.id);
    });

    it('of a phone that two other tenants of the network have is 404, and finds one account once the other is closed', async () => {
      const third = await openBank(api, { network });
      const phone = newPhone();
      const { id } = await near.account({ phone });
      const closing = await nearer.account({ phone });
      answered(await byPhone(phone, third), 404, 'not_found');
      await closeAccount(db.deps, closing.id, DECIDED);
      assert.equal(answered(await byPhone(phone, third), 200).json.account_id, id);
    });

    it('of a phone never leaves the network, and two tenants without a network do not share one', async () => {
      const phone = newPhone();
      await near.account({ phone });
      answered(await byPhone(phone, far), 404, 'not_found');
      answered(await byPhone(phone, bank), 404, 'not_found');
      const lonely = newPhone();
      await (await openBank(api)).account({ phone: lonely });
      answered(await byPhone(lonely, bank), 404, 'not_found');
      answered(await byPhone(lonely, near), 404, 'not_found');
    });

    it("an alias is looked up only in the caller's own tenant", async () => {
      await nearer.account({ alias: '$only.there' });
      answered(await byAlias('$only.there', near), 404, 'not_found');
    });
  });
});
