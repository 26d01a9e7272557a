import assert from 'node:assert/strict';
import { ApiError } from '../../src/core/errors.js';
import { type CursorBinding, Cursors } from '../../src/http/cursor.js';
import { KEYS, OTHER_TENANT, TENANT } from './support.js';

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

  it('a cursor with any single character changed to any other is refused, even if only unused bits of the last character change', () => {
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

  it('a cursor is valid only for its tenant, its endpoint and its filters', () => {
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

  it('a cursor made with another secret under the same key id is refused', () => {
    const foreign = new Cursors([{ id: key.id, secret: Buffer.alloc(32, 9) }]);
    assertRefused(BINDING, foreign.encode(BINDING, position));
  });

  it('a cursor does not reveal its position, and similar positions give dissimilar cursors', () => {
    const [one, other] = ['a', 'b'].map((end) => {
      const cursor = cursors.encode(BINDING, ['a long beginning that both of them have', end]);
      return Buffer.from(cursor, 'base64url').subarray(18 + KEYS[0].id.length);
    });
    assert(one !== undefined && other !== undefined);
    for (const word of ['["', 'long', 'beginning']) assert.ok(!one.includes(word), word);
    const alike = one.filter((byte, index) => byte === other[index]).length;
    assert.ok(alike < 10, `${alike} bytes are the same`);
  });
});
