import assert from 'node:assert/strict';
import { ASSETS } from '../../src/core/amount.js';
import { call, startWorld } from './support.js';
import { asRequest, thingRoutes } from './routes.js';

const NO_ASSET = `not_one_of: ${ASSETS.join(', ')}`;

let seen: unknown[] = [];
const world = await startWorld({ routes: thingRoutes((request) => seen.push(request)) });

describe('the query of a request', () => {
  beforeEach(() => {
    seen = [];
  });
  after(() => world.server.stop(0));

  async function queryOf(search: string): Promise<Record<string, unknown>> {
    const answer = await call(`${world.url}/v1/transfers${search}`);
    assert.equal(answer.status, 200, answer.text);
    return asRequest(seen.pop()).query as Record<string, unknown>;
  }

  it('a page has 25 items by default, and up to 100', async () => {
    for (const [search, limit] of [
      ['', 25],
      ['?limit=1', 1],
      ['?limit=100', 100],
    ] as const)
      assert.equal((await queryOf(search))['limit'], limit);
  });

  const LIMITS = {
    out_of_range: ['0', '101', '9'.repeat(400)],
    not_an_integer: ['', '1.0', '+5', '-1', '1e1', '05', '0x10', ' 5'],
  };
  it('queries with an unknown, repeated or malformed parameter are refused by its name', async () => {
    for (const [search, field, reason] of [
      ['?x=1', 'x', 'unknown'],
      ['?limit=1&limit=1', 'limit', 'repeated'],
      ['?created_at=2026-01-01T00:00:00Z', 'created_at', 'unknown'],
      ['?created_at[gte]=yesterday', 'created_at[gte]', 'not_a_date_time'],
      ['?created_at%5Blte%5D=2026-13-01T00:00:00Z', 'created_at[lte]', 'not_a_date_time'],
      ['?asset=EUR', 'asset', NO_ASSET],
      ['?asset=%ff', 'asset', 'malformed_encoding'],
      ['?__proto__=1', '__proto__', 'unknown'],
      ['?constructor=1', 'constructor', 'unknown'],
      ['?LIMIT=1', 'LIMIT', 'unknown'],
      ['?limit', 'limit', 'not_an_integer'],
      ['?=1', '', 'unknown'],
      ...Object.entries(LIMITS).flatMap(([reason, limits]) =>
        limits.map((limit) => [`?limit=${encodeURIComponent(limit)}`, 'limit', reason] as const),
      ),
    ] as const) {
      const answer = await call(`${world.url}/v1/transfers${search}`);
      assert.equal(answer.status, 400, answer.text);
      const { code, details } = answer.json().error;
      assert.deepEqual([code, details?.field, details?.reason], ['invalid_field', field, reason]);
    }
  });

  it('an empty query and stray separators are ignored', async () => {
    assert.deepEqual(await queryOf('?'), { limit: 25 });
    assert.deepEqual(await queryOf('?&limit=2&'), { limit: 2 });
  });

  it('time bounds finer than a millisecond admit exactly what lies within them', async () => {
    const query = await queryOf(
      '?created_at[gte]=2026-01-01T00:00:00.0001Z&created_at[lte]=2026-01-01T00:00:00.0019Z',
    );
    const base = Date.UTC(2026, 0, 1);
    assert.equal(query['created_at[gte]'], base + 1);
    assert.equal(query['created_at[lte]'], base + 1);
  });
});
