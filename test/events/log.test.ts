import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { instant, toRfc3339 } from '../../src/core/instant.js';
import { EVENT_TYPES } from '../../src/db/entities/events.js';
import type { Account } from '../../src/db/entities/parties.js';
import { startTestApi } from '../helpers/api.js';
import {
  answered,
  type Json,
  LEAST,
  list,
  object,
  openBank,
  text,
  walk,
  withQuery,
} from '../helpers/bank.js';
import { testDatabase } from '../helpers/database.js';
import { assertLedgerSound } from '../helpers/world.js';

const START = Date.parse('2032-05-01T12:00:00.000Z');
const EVENTS = 24;

const db = await testDatabase();
let now = instant(START);
const api = await startTestApi(db, {}, { clock: () => now });
const bank = await openBank(api);

describe('GET /v1/events', () => {
  /** The content of each event that the log must hold, oldest first. */
  let objects: { type: string; object: Json; path: string | null }[];
  /** Newest first. */
  let all: Json[];

  const at = (offset: number): string => toRfc3339(instant(START + offset));

  before(async () => {
    const [from, to] = [
      await bank.account({ funds: { COPM: 100n * LEAST } }),
      await bank.account(),
    ];
    objects = [];
    // Two in each millisecond, every fourth a verification.
    for (let index = 0; index < EVENTS; index += 1) {
      now = instant(START + Math.trunc(index / 2));
      if (index % 4 === 3)
        objects.push({ type: 'account.verified', object: await verify(), path: null });
      else {
        const transfer = await bank.sent({
          from,
          to,
          raw: LEAST + BigInt(index),
          description: `number ${index}`,
        });
        objects.push({
          type: 'transfer.completed',
          object: transfer,
          path: `/v1/transfers/${text(transfer.id)}`,
        });
      }
    }
    all = list(answered(await bank.get('/v1/events?limit=100'), 200).json.items);
  });

  after(() => assertLedgerSound(db.database));

  async function verify(): Promise<Json> {
    const account: Account = await bank.account({ isVerified: false });
    const body = {
      type: 'business',
      legal_name: 'Of a test',
      document_type: 'NIT',
      document_number: '900123456',
      country: 'CO',
    };
    return answered(
      await bank.request('PUT', `/v1/accounts/${account.id}/verification`, { body }),
      200,
    ).json;
  }

  it('lists the events newest first, with a gapless sequence', () => {
    assert.deepEqual(
      all.map(({ sequence }) => sequence),
      Array.from({ length: EVENTS }, (_, index) => EVENTS - index),
    );
    assert.deepEqual(
      all.map(({ created_at: created }) => created),
      Array.from({ length: EVENTS }, (_, index) => at(Math.trunc((EVENTS - 1 - index) / 2))),
    );
  });

  it('each event has exactly its fields, and contains the resource as in responses', async () => {
    for (const [index, { type, object: expected, path }] of objects.entries()) {
      const event = all[EVENTS - 1 - index];
      const { id, ...others } = event!;
      assert.match(
        text(id),
        /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
      );
      assert.deepEqual(others, {
        type,
        api_version: '2026-11-01',
        created_at: at(Math.trunc(index / 2)),
        sequence: index + 1,
        data: { object: expected },
      });
      if (path !== null) assert.deepEqual((await bank.get(path)).json, expected);
    }
  });

  for (const limit of [1, 5])
    it(`shows every event once in pages of ${limit}`, async () => {
      assert.deepEqual(await walk(bank, `/v1/events?limit=${limit}`), all);
    });

  it('of an empty log is an empty page without a first sequence, in either order', async () => {
    const empty = await openBank(api);
    assert.deepEqual((await empty.get('/v1/events')).json, {
      items: [],
      next_cursor: null,
      first_sequence: null,
      gaps: [],
    });
    const { items, next_cursor: cursor } = (await empty.get('/v1/events?order=asc')).json;
    assert.deepEqual([items, typeof cursor], [[], 'string']);
  });

  it('filters by every type of the contract and no other', async () => {
    for (const type of EVENT_TYPES)
      assert.deepEqual(
        await walk(bank, `/v1/events?type=${type}&limit=4`),
        all.filter((event) => event.type === type),
      );
    for (const type of ['transfer.created', 'transfer', '', 'TRANSFER.COMPLETED', 'webhook.test'])
      answered(await bank.get(`/v1/events?type=${type}`), 400, 'invalid_field');
  });

  it('filters by inclusive bounds of created_at, with and without a type, in either order', async () => {
    for (const [from, to] of [
      [0, 11],
      [3, 3],
      [4, 6],
      [11, 12],
      [12, 20],
      [6, 5],
    ] as const)
      for (const type of [null, 'account.verified']) {
        const expected = all.filter(
          ({ created_at: created, type: of }) =>
            text(created) >= at(from) && text(created) <= at(to) && (type === null || type === of),
        );
        const query = `created_at[gte]=${at(from)}&created_at[lte]=${at(to)}${type === null ? '' : `&type=${type}`}`;
        assert.deepEqual(await walk(bank, `/v1/events?${query}&limit=3`), expected);
        const upward = await bank.get(`/v1/events?${query}&order=asc&limit=100`);
        assert.deepEqual(answered(upward, 200).json.items, [...expected].reverse());
      }
  });

  it('with order=asc follows the log: next_cursor is never null, and continues with newer events', async () => {
    const own = await openBank(api);
    const [from, to] = [await own.account({ funds: { COPM: 100n * LEAST } }), await own.account()];
    let cursor: unknown = null;
    const seen: unknown[] = [];
    const follow = async (): Promise<number> => {
      const path = '/v1/events?order=asc&limit=3';
      const page = answered(
        await own.get(cursor === null ? path : withQuery(path, `cursor=${text(cursor)}`)),
        200,
      ).json;
      cursor = page.next_cursor;
      seen.push(...list(page.items).map(({ sequence }) => sequence));
      return list(page.items).length;
    };
    assert.equal(await follow(), 0);
    for (const batch of [1, 0, 3, 7, 0, 2]) {
      for (let count = 0; count < batch; count += 1) await own.sent({ from, to, raw: LEAST });
      let got = 0;
      for (let more = await follow(); more > 0; more = await follow()) got += more;
      assert.equal(got, batch);
    }
    assert.deepEqual(
      seen,
      Array.from({ length: 13 }, (_, index) => index + 1),
    );
  });

  it('refuses a cursor of another tenant, order or filter', async () => {
    const cursor = text((await bank.get('/v1/events?limit=2')).json.next_cursor);
    answered(await bank.get(`/v1/events?cursor=${cursor}`), 200);
    const stranger = await openBank(api);
    for (const [whose, query] of [
      [stranger, ''],
      [bank, 'order=asc&'],
      [bank, 'type=account.verified&'],
      [bank, `created_at[gte]=${at(0)}&`],
    ] as const) {
      const answer = answered(
        await whose.get(`/v1/events?${query}cursor=${cursor}`),
        400,
        'invalid_field',
      );
      assert.equal(answer.details?.field, 'cursor');
    }
    // The default order is one of the two that can be named.
    answered(await bank.get(`/v1/events?order=desc&cursor=${cursor}`), 200);
    for (const query of ['order=up', 'sequence=1', 'created_at[gte]=now'])
      answered(await bank.get(`/v1/events?${query}`), 400, 'invalid_field');
  });

  it('shows the events of all accounts to any token of the tenant, even without roles', async () => {
    await db.change(
      `DELETE FROM member_roles WHERE member_id=X'${bank.tenant.owner.id.replaceAll('-', '')}'`,
    );
    assert.deepEqual(await walk(bank, '/v1/events?limit=10'), all);
  });

  describe('/{id}', () => {
    it('GET /v1/events/{id} returns the event as the list shows it', async () => {
      for (const event of all.slice(0, 6)) {
        const id = text(event.id);
        assert.deepEqual(answered(await bank.get(`/v1/events/${id}`), 200).json, event);
        assert.deepEqual(
          answered(await bank.get(`/v1/events/${id.toUpperCase()}`), 200).json,
          event,
        );
      }
    });

    it("GET /v1/events/{id} answers the same 404 for another tenant's event, a missing event and a malformed id", async () => {
      const stranger = await openBank(api);
      const missing = answered(
        await stranger.get(`/v1/events/${randomUUID()}`),
        404,
        'not_found',
      ).text;
      for (const id of [text(all[0]!.id), text(object(object(all[1]!.data).object).id), '1', 'x'])
        assert.equal(
          answered(await stranger.get(`/v1/events/${id}`), 404, 'not_found').text,
          missing,
        );
    });
  });
});
