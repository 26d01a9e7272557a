import assert from 'node:assert/strict';
import { ASSETS } from '../../src/core/amount.js';
import { call, startWorld, type World } from './support.js';
import { asRequest, thingRoutes } from './routes.js';

const NO_ASSET = `not_one_of: ${ASSETS.join(', ')}`;

describe('queries', () => {
  let world: World;
  let seen: unknown[] = [];

  before(async () => {
    world = await startWorld({ routes: thingRoutes((request) => seen.push(request)) });
  });
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
    assert.equal((await queryOf(''))['limit'], 25);
    assert.equal((await queryOf('?limit=1'))['limit'], 1);
    assert.equal((await queryOf('?limit=100'))['limit'], 100);
  });

  for (const [limit, reason] of [
    ['0', 'out_of_range'],
    ['101', 'out_of_range'],
    ['9'.repeat(400), 'out_of_range'],
    ['', 'not_an_integer'],
    ['1.0', 'not_an_integer'],
    ['+5', 'not_an_integer'],
    ['-1', 'not_an_integer'],
    ['1e1', 'not_an_integer'],
    ['05', 'not_an_integer'],
    ['0x10', 'not_an_integer'],
    [' 5', 'not_an_integer'],
  ] as const)
    it(`the limit ${limit.slice(0, 10)} is refused as ${reason}`, async () => {
      const answer = await call(`${world.url}/v1/transfers?limit=${encodeURIComponent(limit)}`);
      assert.equal(answer.status, 400);
      const { details } = answer.json().error;
      assert.deepEqual([details?.field, details?.reason], ['limit', reason]);
    });

  for (const [search, field, reason] of [
    ['?x=1', 'x', 'unknown'],
    ['?limit=1&limit=1', 'limit', 'repeated'],
    ['?created_at=2026-01-01T00:00:00Z', 'created_at', 'unknown'],
    ['?created_at[gte]=yesterday', 'created_at[gte]', 'not_a_date_time'],
    ['?created_at%5Blte%5D=2026-13-01T00:00:00Z', 'created_at[lte]', 'not_a_date_time'],
    ['?asset=EUR', 'asset', NO_ASSET],
    ['?asset=', 'asset', NO_ASSET],
    ['?asset=%ff', 'asset', 'malformed_encoding'],
    ['?__proto__=1', '__proto__', 'unknown'],
    ['?constructor=1', 'constructor', 'unknown'],
    ['?LIMIT=1', 'LIMIT', 'unknown'],
    ['?limit', 'limit', 'not_an_integer'],
    ['?=1', '', 'unknown'],
  ] as const)
    it(`the query ${search} is refused: ${field} ${reason}`, async () => {
      const answer = await call(`${world.url}/v1/transfers${search}`);
      assert.equal(answer.status, 400, answer.text);
      const { code, details } = answer.json().error;
      assert.deepEqual([code, details?.field, details?.reason], ['invalid_field', field, reason]);
    });

  it('every problem of a query is listed at once', async () => {
    const answer = await call(`${world.url}/v1/transfers?limit=0&asset=x&x=1&y=%zz`);
    const fields = answer
      .json()
      .error.details?.errors?.map(({ field }) => field)
      .sort();
    assert.deepEqual(fields, ['asset', 'limit', 'x', 'y']);
  });

  it('a route without parameters refuses all of them', async () => {
    const answer = await call(`${world.url}/v1/accounts/lookup?alias=%24ana`);
    assert.deepEqual(answer.json().error.details?.field, 'alias');
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
