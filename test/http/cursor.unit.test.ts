import assert from 'node:assert/strict';
import { ApiError } from '../../src/core/errors.js';
import { UnknownKey } from '../../src/core/fingerprint.js';
import { type CursorBinding, Cursors } from '../../src/http/cursor.js';
import { call, callerWith, KEYS, OTHER_TENANT, startWorld, TENANT, type World } from './support.js';
import { thingRoutes } from './routes.js';

const BINDING: CursorBinding = {
  tenantId: TENANT,
  endpoint: '/v1/transfers',
  filters: { asset: 'COPM', from: 5 },
};

describe('cursors', () => {
  const cursors = new Cursors(KEYS);
  const position = ['1234567890', 'a "quoted" é'];

  function assertRefused(binding: CursorBinding, cursor: string, reader = cursors): void {
    assert.throws(
      () => reader.decode(binding, cursor),
      (error) =>
        error instanceof ApiError &&
        error.refusal.code === 'invalid_field' &&
        error.refusal.details?.['field'] === 'cursor',
      cursor,
    );
  }

  it('a cursor returns its position for the list it was made for', () => {
    const cursor = cursors.encode(BINDING, position);
    assert.match(cursor, /^[A-Za-z0-9_-]+$/);
    assert.deepEqual(cursors.decode(BINDING, cursor), position);
    assert.deepEqual(
      cursors.decode({ ...BINDING, filters: { from: 5, asset: 'COPM' } }, cursor),
      position,
    );
  });

  it('a cursor with any single character changed to any other is refused, the unused bits of the last too', () => {
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    for (const own of [['1'], ['12'], ['123']]) {
      const cursor = cursors.encode(BINDING, own);
      for (let at = 0; at < cursor.length; at += 1)
        for (const letter of alphabet)
          if (letter !== cursor[at])
            assertRefused(BINDING, cursor.slice(0, at) + letter + cursor.slice(at + 1));
    }
  });

  it('a shortened, lengthened, padded or foreign cursor is refused', () => {
    const cursor = cursors.encode(BINDING, position);
    const cut = Array.from({ length: cursor.length }, (_, length) => cursor.slice(0, length));
    const longer = [`${cursor}A`, `${cursor}=`, ` ${cursor}`, `${cursor}\n`];
    for (const text of [...cut, ...longer, 'x', '', 'A'.repeat(5_000), '😀'])
      assertRefused(BINDING, text);
  });

  it('a cursor is good for its tenant, its endpoint and its filters only', () => {
    const cursor = cursors.encode(BINDING, position);
    for (const change of [
      { tenantId: OTHER_TENANT },
      { endpoint: '/v1/events' },
      { filters: {} },
      { filters: { asset: 'COPM' } },
      { filters: { asset: 'DUSD', from: 5 } },
      { filters: { asset: 'COPM', from: 5, kind: 'x' } },
    ])
      assertRefused({ ...BINDING, ...change }, cursor);
  });

  const [key] = KEYS;
  const newer = { id: 'k2', secret: Buffer.alloc(32, 9) };

  it('old cursors remain valid after a rotation of keys', () => {
    const rotated = new Cursors([newer, key]);
    assert.deepEqual(rotated.decode(BINDING, cursors.encode(BINDING, position)), position);
  });

  it('a cursor under a key that is not here yet is unknown, not wrong', () => {
    const cursor = new Cursors([newer, key]).encode(BINDING, position);
    assert.throws(() => cursors.decode(BINDING, cursor), new UnknownKey('CURSOR_KEYS', 'k2'));
    assert.deepEqual(new Cursors([key, newer]).decode(BINDING, cursor), position);
  });

  it('a cursor whose key has the id of ours and another secret is refused', () => {
    const foreign = new Cursors([{ id: key.id, secret: Buffer.alloc(32, 9) }]);
    assertRefused(BINDING, foreign.encode(BINDING, position));
  });

  it('a cursor shows nothing of its position, and positions that begin alike do not look alike', () => {
    const [one, other] = ['a', 'b'].map((end) => {
      const cursor = cursors.encode(BINDING, ['a long beginning that both of them have', end]);
      return Buffer.from(cursor, 'base64url').subarray(18 + KEYS[0].id.length);
    });
    assert(one !== undefined && other !== undefined);
    for (const word of ['["', 'long', 'beginning']) assert.ok(!one.includes(word), word);
    const alike = one.filter((byte, index) => byte === other[index]).length;
    assert.ok(alike < 10, `${alike} bytes are the same`);
  });

  describe('over HTTP', () => {
    let world: World;

    before(async () => {
      world = await startWorld({
        routes: thingRoutes(),
        authenticate: (token) =>
          Promise.resolve(callerWith(token.endsWith('2') ? { tenantId: OTHER_TENANT } : {})),
      });
    });
    after(() => world.server.stop(0));

    async function next(
      search: string,
      token = 'svc_live_1',
    ): Promise<{ status: number; cursor: string }> {
      const answer = await call(`${world.url}/v1/transfers${search}`, {
        headers: { authorization: `Bearer ${token}` },
      });
      if (answer.status === 400) assert.equal(answer.json().error.details?.field, 'cursor');
      return {
        status: answer.status,
        cursor: answer.json<{ next_cursor?: string }>().next_cursor ?? '',
      };
    }

    it('a cursor is used with another limit, but not with other filters', async () => {
      const { cursor } = await next('?asset=COPM&limit=5');
      assert.equal((await next(`?asset=COPM&limit=7&cursor=${cursor}`)).status, 200);
      assert.equal((await next(`?limit=5&cursor=${cursor}`)).status, 400);
      assert.equal((await next(`?asset=DUSD&cursor=${cursor}`)).status, 400);
      assert.equal((await next(`?asset=COPM&cursor=${cursor}`, 'svc_live_2')).status, 400);
      assert.equal((await next('?cursor=')).status, 400);
    });

    it('a cursor is valid for the same instant written differently', async () => {
      const { cursor } = await next('?created_at[gte]=2026-01-01T00:00:00Z');
      assert.equal(
        (await next(`?created_at[gte]=2025-12-31T19:00:00.000-05:00&cursor=${cursor}`)).status,
        200,
      );
    });
  });
});
