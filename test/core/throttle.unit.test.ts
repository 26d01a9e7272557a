import assert from 'node:assert/strict';
import { Throttle } from '../../src/core/throttle.js';

describe('a throttle', () => {
  it('a throttle lets as many begin at once as it may, and the others later, one tenant after the other', async () => {
    const throttle = new Throttle(2);
    const begun: string[] = [];
    const all = ['a1', 'a2', 'a3', 'a4', 'a5', 'b1', 'b2', 'c1'].map(async (name) => {
      await throttle.next(name.slice(0, 1));
      begun.push(name);
    });
    await Promise.resolve();
    assert.deepEqual(begun, ['a1', 'a2']);
    await Promise.all(all);
    assert.deepEqual(begun, ['a1', 'a2', 'a3', 'b1', 'c1', 'a4', 'b2', 'a5']);
  });

  it('a throttle lets all begin who come one after the other, also where nobody waits', async () => {
    const throttle = new Throttle(1);
    await throttle.next('a');
    await throttle.next('a');
    await throttle.next('b');
  });
});
