import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { grantRole } from '../../src/members/roles.js';
import { instant, toRfc3339 } from '../../src/core/instant.js';
import { systemClock } from '../../src/core/instant.js';
import type { Account } from '../../src/db/entities/parties.js';
import { startTestApi } from '../helpers/api.js';
import {
  answered,
  type Bank,
  type Json,
  LEAST,
  list,
  openBank,
  text,
  walk,
  withQuery,
} from '../helpers/bank.js';
import { testDatabase } from '../helpers/database.js';
import { assertLedgerSound, TEST_ACTOR } from '../helpers/world.js';

const START = Date.parse('2032-05-01T12:00:00.000Z');

const db = await testDatabase();
let now = instant(START);
const api = await startTestApi(db, {}, { clock: () => now });
const bank = await openBank(api);

describe('GET /v1/transfers', () => {
  let accounts: Account[];
  /** Newest first: 30 transfers, three in each millisecond. */
  let made: Json[];
  const keys = new Map<string, string>();

  before(async () => {
    accounts = [];
    for (let index = 0; index < 3; index += 1)
      accounts.push(await bank.account({ funds: { COPM: 1_000n * LEAST } }));
    made = [];
    for (let index = 0; index < 30; index += 1) {
      now = instant(START + Math.trunc(index / 3));
      const key = randomUUID();
      const transfer = await bank.sent(
        { from: accounts[index % 3]!, to: accounts[(index + 1) % 3]!, raw: LEAST + BigInt(index) },
        { key },
      );
      keys.set(key, text(transfer.id));
      made.unshift(transfer);
    }
    await assertLedgerSound(db.database);
  });

  const at = (offset: number): string => toRfc3339(instant(START + offset));
  const ids = (items: readonly Json[]): unknown[] => items.map(({ id }) => id);

  it('lists every transfer once, newest first, with any limit; next_cursor is null on the last page', async () => {
    const { json } = answered(await bank.get('/v1/transfers?limit=30'), 200);
    assert.deepEqual(Object.keys(json).sort(), ['items', 'next_cursor']);
    assert.equal(json.next_cursor, null);
    assert.deepEqual(json.items, sorted(made));
    for (const limit of [1, 7, 29, 100])
      assert.deepEqual(await walk(bank, `/v1/transfers?limit=${limit}`), sorted(made));
  });

  /** Newest first; within a millisecond by id. */
  function sorted(transfers: readonly Json[]): Json[] {
    const order = ({ created_at: created, id }: Json): string => `${text(created)} ${text(id)}`;
    return [...transfers].sort((a, b) => (order(a) < order(b) ? 1 : -1));
  }

  it('filters by source_account', async () => {
    for (const { id } of accounts) {
      const own = made.filter((transfer) => transfer.source_account === id);
      assert.equal(own.length, 10);
      for (const limit of [3, 100])
        assert.deepEqual(
          await walk(bank, `/v1/transfers?source_account=${id}&limit=${limit}`),
          sorted(own),
        );
    }
    const upper = accounts[0]!.id.toUpperCase();
    assert.equal(
      list((await bank.get(`/v1/transfers?source_account=${upper}`)).json.items).length,
      10,
    );
  });

  it('filters by status', async () => {
    assert.deepEqual(await walk(bank, '/v1/transfers?status=completed&limit=7'), sorted(made));
    for (const status of ['pending_approval', 'rejected', 'expired'])
      assert.deepEqual(
        answered(await bank.get(`/v1/transfers?status=${status}`), 200).json.items,
        [],
      );
  });

  it('finds the transfer that an idempotency key created, and none for other keys', async () => {
    for (const [key, id] of keys)
      assert.deepEqual(
        ids(list((await bank.get(`/v1/transfers?idempotency_key=${key}`)).json.items)),
        [id],
      );
    const [[key, id]] = [...keys] as [[string, string]];
    const found = (await bank.get(`/v1/transfers?idempotency_key=${key.toUpperCase()}`)).json;
    assert.deepEqual([ids(list(found.items)), found.next_cursor], [[id], null]);
    for (const other of [
      `idempotency_key=${randomUUID()}`,
      `idempotency_key=${key}&status=expired`,
    ])
      assert.deepEqual(answered(await bank.get(`/v1/transfers?${other}`), 200).json.items, []);
    const stranger = await openBank(api);
    assert.deepEqual((await stranger.get(`/v1/transfers?idempotency_key=${key}`)).json.items, []);
  });

  it('refuses an unknown or malformed parameter', async () => {
    for (const query of [
      'colour=red',
      'status=done',
      'source_account=x',
      'idempotency_key=x',
      'created_at[gte]=2032-05-01T12:00:00',
      'created_at[lt]=2032-05-01T12:00:00Z',
    ])
      answered(await bank.get(`/v1/transfers?${query}`), 400, 'invalid_field');
  });

  it('refuses a cursor of another tenant, of other filters, of another list, or without its filters', async () => {
    const query = `source_account=${accounts[0]!.id}&limit=2`;
    const cursor = text((await bank.get(`/v1/transfers?${query}`)).json.next_cursor);
    answered(await bank.get(`/v1/transfers?${query}&cursor=${cursor}`), 200);
    const since = (time: string) =>
      `/v1/transfers?limit=1&created_at[gte]=${encodeURIComponent(time)}`;
    const dated = answered(await bank.get(since(at(3))), 200).json;
    // The same moment in another offset is the same filter.
    const again = withQuery(
      since('2032-05-01T07:00:00.003-05:00'),
      `cursor=${text(dated.next_cursor)}`,
    );
    answered(await bank.get(again), 200);
    const stranger = await openBank(api);
    const refused: readonly (readonly [Bank, string])[] = [
      [stranger, `/v1/transfers?${query}`],
      [bank, '/v1/transfers?limit=2'],
      [bank, `/v1/transfers?source_account=${accounts[1]!.id}`],
      [bank, `/v1/transfers?${query}&status=completed`],
      [bank, `/v1/transfers?${query}&created_at[gte]=${at(0)}`],
      [bank, `/v1/accounts/${accounts[0]!.id}/movements?limit=2`],
      [bank, '/v1/events?limit=2'],
    ];
    for (const [whose, path] of refused) {
      const answer = answered(
        await whose.get(withQuery(path, `cursor=${cursor}`)),
        400,
        'invalid_field',
      );
      assert.equal(answer.details?.field, 'cursor');
    }
  });

  it('lists transfers whose source or destination the member has a role in', async () => {
    const member = await bank.member('reader');
    const token = await bank.issue(member, ['read']);
    const reader: Pick<Bank, 'get'> = { get: (path) => bank.request('GET', path, { token }) };
    assert.deepEqual(await walk(reader, '/v1/transfers'), []);
    const { id } = accounts[0]!;
    await grantRole(db.database, systemClock, member, id, 'viewer', TEST_ACTOR);
    const visible = made.filter(
      (transfer) =>
        transfer.source_account === id ||
        (transfer.destination as { account_id: string }).account_id === id,
    );
    assert.equal(visible.length, 20);
    assert.deepEqual(await walk(reader, '/v1/transfers?limit=6'), sorted(visible));
    const hidden = made.find((transfer) => !visible.includes(transfer))!;
    answered(await reader.get(`/v1/transfers/${text(hidden.id)}`), 403, 'authority_insufficient');
    assert.deepEqual(
      answered(await reader.get(`/v1/transfers/${text(visible[0]!.id)}`), 200).json,
      visible[0],
    );
    const key = [...keys].find(([, made]) => made === hidden.id)![0];
    assert.deepEqual((await reader.get(`/v1/transfers?idempotency_key=${key}`)).json.items, []);
  });

  it('GET /v1/transfers/{id} answers the transfer as it was created, by an id in any case', async () => {
    const [transfer] = made;
    const id = text(transfer?.id);
    for (const own of [id, id.toUpperCase()])
      assert.deepEqual(answered(await bank.get(`/v1/transfers/${own}`), 200).json, transfer);
  });
});
