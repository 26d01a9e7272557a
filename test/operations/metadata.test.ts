import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
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
  text,
  transferBody,
  walk,
} from '../helpers/bank.js';
import { testDatabase } from '../helpers/database.js';
import { payoutBody } from '../payouts/support.js';

const db = await testDatabase();
const api = await startTestApi(db);
const other = await startTestApi(db);
const bank = await openBank(api);
const payer = await bank.account({ funds: { COPM: 10_000n * LEAST } });
const receiver = await bank.account();

const KINDS: Readonly<Record<string, (from: Account, to: Account) => Json>> = {
  transfers: (from, to) => transferBody({ from, to, raw: LEAST }),
  bonuses: (from, to) => ({
    source_account: from.id,
    recipient: { account_id: to.id },
    amount: { raw: LEAST.toString(), asset: 'COPM' },
  }),
  payouts: (from) => payoutBody({ from }),
};

const pairs = (count: number, value = 'v'): Json =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`key_${index}`, value]));

/** Metadata that is refused, with the field and the reason. */
const REFUSED: readonly (readonly [unknown, string, string])[] = [
  [{ Invoice: 'a' }, 'metadata.Invoice', 'malformed'],
  [{ '': 'a' }, 'metadata.', 'malformed'],
  [{ 'a-b': 'a' }, 'metadata.a-b', 'malformed'],
  [{ 'a\n': 'a' }, 'metadata.a\n', 'malformed'],
  [{ [`a${'b'.repeat(40)}`]: 'a' }, `metadata.a${'b'.repeat(40)}`, 'malformed'],
  [{ 'No Key': null }, 'metadata.No Key', 'malformed'],
  [{ constructor: 'a' }, 'metadata.constructor', 'forbidden_name'],
  [JSON.parse('{"__proto__":"a"}'), 'metadata.__proto__', 'forbidden_name'],
  [{ invoice: 'a\u0000' }, 'metadata.invoice', 'control_character'],
  [{ invoice: 'a\nb' }, 'metadata.invoice', 'control_character'],
  [{ invoice: '\ud800' }, 'metadata.invoice', 'control_character'],
];
const TOO_MUCH: readonly (readonly [Json, string])[] = [
  [pairs(21), 'too_many'],
  // 20 × (5 or 6 + 200) bytes: two of the letters are two bytes each.
  [pairs(20, 'é'.repeat(100)), 'too_long'],
];

for (const [nouns, bodyOf] of Object.entries(KINDS))
  describe(`metadata of ${nouns}`, () => {
    const post = (metadata: unknown, key: string = randomUUID()): Promise<TestAnswer> =>
      bank.request('POST', `/v1/${nouns}`, { body: { ...bodyOf(payer, receiver), metadata }, key });
    const created = async (metadata: unknown): Promise<Json> =>
      answered(await post(metadata), 201).json;
    const patch = (id: unknown, metadata: unknown, by: Pick<Bank, 'request'> = bank) =>
      by.request('PATCH', `/v1/${nouns}/${text(id)}`, { body: { metadata } });
    const found = async (pair: string): Promise<readonly unknown[]> =>
      (await walk(bank, `/v1/${nouns}?limit=2&${pair}`)).map(({ id }) => id);

    it(`metadata of ${nouns} is stored in NFC and shown sorted by key, and pairs of null, null and {} mean none`, async () => {
      for (const [sent, shown] of [
        [undefined, {}],
        [null, {}],
        [{}, {}],
        [{ a: null }, {}],
        [
          { b: 'Cafe\u0301 "1"\\', a: '💸'.repeat(500), c: null },
          { a: '💸'.repeat(500), b: 'Café "1"\\' },
        ],
        [pairs(20, 'x'.repeat(190)), pairs(20, 'x'.repeat(190))],
        [{ ...pairs(20), key_20: null }, pairs(20)],
        // Names that the client and the desk must not take for an amount.
        [
          { raw: '7', asset: 'COPM' },
          { asset: 'COPM', raw: '7' },
        ],
      ]) {
        const { id, metadata } = await created(sent);
        assert.deepEqual(metadata, shown);
        const read = answered(await bank.get(`/v1/${nouns}/${text(id)}`), 200).json;
        assert.equal(JSON.stringify(read.metadata), JSON.stringify(metadata));
      }
    });

    it(`metadata of ${nouns} is part of the request: a replay has the same pairs, and nothing tells none from {}`, async () => {
      const key = randomUUID();
      const first = answered(await post({ a: '1', b: '2' }, key), 201).json;
      answered(await patch(first.id, { a: '3' }), 200);
      const again = answered(await post({ b: '2', a: '1', c: null }, key), 200).json;
      assert.deepEqual([again.id, again.metadata], [first.id, { a: '3', b: '2' }]);
      for (const changed of [undefined, {}, { a: '1' }, { a: '3', b: '2' }])
        answered(await post(changed, key), 409, 'idempotency_key_reused');
      const none = randomUUID();
      answered(await post(undefined, none), 201);
      for (const same of [null, {}, { a: null }]) answered(await post(same, none), 200);
    });

    it(`metadata of ${nouns} that breaks a rule is refused with its field and reason`, async () => {
      const kept = { key_0: 'x'.repeat(500) };
      const { id } = await created(kept);
      for (const [metadata, field, reason] of REFUSED)
        for (const answer of [await post(metadata), await patch(id, metadata)]) {
          const { details } = answered(answer, 400, 'invalid_field');
          assert.deepEqual([details?.field, details?.reason], [field, reason]);
        }
      for (const [metadata, reason] of TOO_MUCH)
        for (const answer of [await post(metadata), await patch(id, metadata)]) {
          const { details } = answered(answer, 400, 'invalid_field');
          assert.deepEqual([details?.field, details?.reason], ['metadata', reason]);
        }
      answered(await patch(id, null), 400, 'missing_field');
      const more = { body: { metadata: {}, description: 'no' } };
      answered(await bank.request('PATCH', `/v1/${nouns}/${text(id)}`, more), 400, 'invalid_field');
      const { metadata } = answered(await bank.get(`/v1/${nouns}/${text(id)}`), 200).json;
      assert.deepEqual(metadata, kept);
    });

    it(`metadata of ${nouns} is changed pair by pair in any state, by the creating roles of the source alone, without an event`, async () => {
      const { id } = await created({ a: '1', b: '2' });
      const events = await walk(bank, '/v1/events');
      for (const [change, shown] of [
        [{}, { a: '1', b: '2' }],
        [
          { c: '3', a: null },
          { b: '2', c: '3' },
        ],
        [
          { a: null, b: 'Cafe\u0301' },
          { b: 'Café', c: '3' },
        ],
        [
          Object.fromEntries(Object.keys(pairs(25)).map((name) => [name, null])),
          { b: 'Café', c: '3' },
        ],
        [{ b: null, c: null }, {}],
        [pairs(20), pairs(20)],
        [{ ...pairs(20, 'w'), more: null }, pairs(20, 'w')],
      ])
        assert.deepEqual(answered(await patch(id, change), 200).json.metadata, shown);
      assert.deepEqual(await walk(bank, '/v1/events'), events);
      answered(await patch(id, { more: 'than twenty' }), 400, 'invalid_field');
      answered(await patch(id, { a: '1' }, await openBank(api)), 404, 'not_found');
      answered(await patch(randomUUID(), { a: '1' }), 404, 'not_found');
      answered(await patch('no-id', { a: '1' }), 404, 'not_found');
    });

    it(`metadata of ${nouns}: simultaneous changes of different keys, in two processes, all hold`, async () => {
      const { id } = await created({ stays: 'x' });
      const change = (index: number): Promise<TestAnswer> =>
        (index % 2 === 0 ? api : other).request('PATCH', `/v1/${nouns}/${text(id)}`, {
          token: bank.token,
          body: { metadata: { [`key_${index}`]: 'v' } },
        });
      const all = await Promise.all(Array.from({ length: 19 }, (_, index) => change(index)));
      for (const answer of all) answered(answer, 200);
      const { metadata } = answered(await bank.get(`/v1/${nouns}/${text(id)}`), 200).json;
      assert.deepEqual(metadata, { ...pairs(19), stays: 'x' });
    });

    it(`metadata[key]=value finds exactly the ${nouns} with the pair, newest first, also after a change`, async () => {
      const value = `A-17 & ${nouns} é`;
      const query = `metadata[invoice]=${encodeURIComponent(value)}`;
      const ids: unknown[] = [];
      for (let index = 0; index < 5; index += 1)
        ids.unshift((await created({ invoice: value, index: String(index) })).id);
      await created({ invoice: `${value} ` });
      await created({ invoice: value.toLowerCase() });
      await created({ order: value });
      assert.deepEqual(await found(query), ids);
      assert.deepEqual(
        await found(`metadata%5Binvoice%5D=${encodeURIComponent(value.normalize('NFD'))}`),
        ids,
      );
      const [newest, ...older] = ids;
      const { created_at: at } = (await bank.get(`/v1/${nouns}/${text(newest)}`)).json;
      assert.deepEqual(await found(`${query}&created_at[gte]=${text(at)}`), [newest]);
      assert.deepEqual(await found(`${query}&source_account=${payer.id}`), ids);
      assert.deepEqual(await found(`${query}&source_account=${receiver.id}`), []);
      assert.deepEqual(await found(`${query}&asset=DUSD`), []);
      assert.deepEqual(
        await found(`metadata[index]=3&${query.replace('invoice', 'no')}`).catch(() => 400),
        400,
      );
      answered(await patch(newest, { invoice: 'A-18' }), 200);
      assert.deepEqual(await found(query), older);
      assert.deepEqual((await found('metadata[invoice]=A-18'))[0], newest);
      answered(await patch(newest, { invoice: value }), 200);
      assert.deepEqual(await found(query), ids);
      const stranger = await openBank(api);
      assert.deepEqual(list((await stranger.get(`/v1/${nouns}?${query}`)).json.items), []);
      const unseen = await bank.issue(await bank.member());
      const seen = await bank.request('GET', `/v1/${nouns}?${query}`, { token: unseen });
      assert.deepEqual(list(answered(seen, 200).json.items), []);
    });

    it(`metadata[key]=value combines with the key and the request that created one of the ${nouns}`, async () => {
      const key = randomUUID();
      const { id } = answered(await post({ invoice: 'K' }, key), 201).json;
      assert.deepEqual(await found(`idempotency_key=${key}&metadata[invoice]=K`), [id]);
      assert.deepEqual(await found(`idempotency_key=${key}&metadata[invoice]=L`), []);
      assert.deepEqual(await found(`idempotency_key=${key}&metadata[other]=K`), []);
    });

    for (const [query, field, reason] of [
      ['metadata[a]=1&metadata[b]=2', 'metadata', 'too_many'],
      ['metadata[a]=1&metadata[a]=2', 'metadata[a]', 'repeated'],
      ['metadata[A]=1', 'metadata.A', 'malformed'],
      ['metadata[]=1', 'metadata.', 'malformed'],
      ['metadata[constructor]=1', 'metadata.constructor', 'forbidden_name'],
      ['metadata[__proto__]=1', 'metadata.__proto__', 'forbidden_name'],
      ['metadata[a]=', 'metadata.a', 'too_short'],
      [`metadata[a]=${'x'.repeat(501)}`, 'metadata.a', 'too_long'],
      ['metadata[a]=%00', 'metadata.a', 'control_character'],
      ['metadata=a', 'metadata', 'not_an_object'],
      ['metadata[a=1', 'metadata[a', 'unknown'],
      ['metadata.a=1', 'metadata.a', 'unknown'],
    ] as const)
      it(`GET /v1/${nouns}?${query.slice(0, 40)} is refused: ${field} is ${reason}`, async () => {
        const { details } = answered(await bank.get(`/v1/${nouns}?${query}`), 400, 'invalid_field');
        assert.deepEqual([details?.field, details?.reason], [field, reason]);
      });

    it(`${nouns} without metadata have no row in its index, and a change leaves no row of a pair that is gone`, async () => {
      const count = async (id: unknown): Promise<number> => {
        const rows = await db.sql(
          `SELECT COUNT(*) AS pairs FROM metadata_pairs WHERE id=${idLiteral(text(id))}`,
        );
        return Number(rows[0]?.pairs);
      };
      const { id } = await created({});
      assert.equal(await count(id), 0);
      answered(await patch(id, { a: '1', b: '2' }), 200);
      assert.equal(await count(id), 2);
      answered(await patch(id, { a: '3' }), 200);
      assert.equal(await count(id), 2);
      answered(await patch(id, { a: null, b: null }), 200);
      assert.equal(await count(id), 0);
    });
  });

describe('metadata and the events', () => {
  it('an event carries the metadata that its resource had at that moment, {} if none', async () => {
    const sent = await Promise.all(
      [{ invoice: 'E-1' }, undefined].map((metadata) =>
        bank.request('POST', '/v1/transfers', {
          body: { ...transferBody({ from: payer, to: receiver, raw: LEAST }), metadata },
        }),
      ),
    );
    for (const answer of sent) {
      const { id, metadata } = answered(answer, 201).json;
      const events = await walk(bank, '/v1/events');
      const event = events.find(({ data }) => object(object(data).object).id === id);
      assert.deepEqual(object(object(event?.data).object).metadata, metadata);
    }
  });
});
