import assert from 'node:assert/strict';
import { compareText, groupBy } from '../../src/core/collections.js';
import { newId } from '../../src/core/ids.js';

describe('the order of ids', () => {
  it('the order of ids is that of their bytes, as the database sorts them', () => {
    const ids = Array.from({ length: 200 }, newId).sort(() => Math.random() - 0.5);
    const bytes = ids.map((id) => Buffer.from(id.replaceAll('-', ''), 'hex')).sort(Buffer.compare);
    assert.deepEqual(
      [...ids].sort(compareText).map((id) => id.replaceAll('-', '')),
      bytes.map((id) => id.toString('hex')),
    );
  });
});

describe('grouping', () => {
  it('grouping keeps the order of first appearance, of groups and within them', () => {
    assert.deepEqual(
      [...groupBy([3, 1, 4, 1, 5, 9, 2, 6], (number) => number % 3)],
      [
        [0, [3, 9, 6]],
        [1, [1, 4, 1]],
        [2, [5, 2]],
      ],
    );
  });
});
