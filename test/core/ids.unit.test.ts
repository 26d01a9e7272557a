import assert from 'node:assert/strict';
import {
  asUuid,
  correctIdClock,
  idFromDigest,
  newId,
  parseUuid,
  timeOfId,
} from '../../src/core/ids.js';

describe('an id', () => {
  it('each id is a different UUID of version 7', () => {
    const ids = Array.from({ length: 5_000 }, () => newId());
    for (const id of ids)
      assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    assert.equal(new Set(ids).size, ids.length);
  });

  it('sorts after earlier ids, even within a millisecond', () => {
    const ids = Array.from({ length: 20_000 }, () => newId());
    assert.deepEqual([...ids].sort(), ids);
  });

  describe('after the clock was set back', () => {
    const { now } = Date;
    const at = (offMs: number): string => {
      Date.now = () => now() + offMs;
      return newId();
    };
    afterEach(() => (Date.now = now));

    it('made after the clock was set back by hours has the new time', () => {
      at(3_600_000);
      const id = asUuid(at(0));
      assert(Math.abs(timeOfId(id) - now()) < 1_000, new Date(timeOfId(id)).toISOString());
    });

    it('made after the clock was set back a little still sorts after earlier ids', () => {
      const before = at(1_000);
      assert(at(0) > before);
    });
  });

  it('has the time of the database’s clock, as far as it was compared with the process’s clock', () => {
    try {
      correctIdClock(-3_600_000);
      assert(Math.abs(timeOfId(newId()) - Date.now() + 3_600_000) < 1_000);
    } finally {
      correctIdClock(0);
    }
    assert(Math.abs(timeOfId(newId()) - Date.now()) < 1_000);
  });

  it('ids of one time and digest are different, and have the order of their numbers', () => {
    const [time, digest] = [1_764_500_000_000, Buffer.alloc(32, 5)];
    const numbers = [0, 1, 2, 63, 64, 100_001, 11_000_000, 2 ** 32 - 1];
    const ids = numbers.map((number) => idFromDigest(time, digest, number));
    assert.deepEqual([...new Set(ids)].sort(), ids);
    assert.deepEqual([...new Set(ids.map(timeOfId))], [time]);
    assert.equal(idFromDigest(time, Buffer.alloc(64, 5), 63), ids[3]);
  });

  it('is read in any case and stored in lower case', () => {
    const id = newId();
    assert.equal(parseUuid(id.toUpperCase()), id);
  });

  it('text that is not a UUID is not parsed as an id', () => {
    const id = newId();
    for (const text of [
      ...['', 'x', id.slice(1), `${id}0`, `{${id}}`, `urn:uuid:${id}`, id.replaceAll('-', '')],
      ...[` ${id}`, `${id}\n`, id.replace('-', '_')],
    ])
      assert.equal(parseUuid(text), null, text);
    assert.throws(() => asUuid('x'), TypeError);
  });
});
