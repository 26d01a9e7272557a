import assert from 'node:assert/strict';
import { nextBeat, untilBeat } from '../../src/http/beat.js';

describe('what is not found', () => {
  it('is answered at the next whole 5 ms of the clock, wherever in between it was known', () => {
    for (const [now, answered] of [
      [10, 15],
      [10.001, 15],
      [12.5, 15],
      [14.999, 15],
      [15, 20],
    ] as const)
      assert.equal(now + untilBeat(now), answered);
  });

  it('is answered in an order that does not reveal when it was known', async () => {
    const orders = new Set<string>();
    for (let round = 0; round < 20; round += 1) {
      const order: number[] = [];
      await Promise.all(Array.from({ length: 8 }, (_, index) => nextBeat().then(() => order.push(index))));
      assert.deepEqual(order.toSorted(), [0, 1, 2, 3, 4, 5, 6, 7]);
      orders.add(order.join());
    }
    assert(orders.size > 10, [...orders].join(' '));
  });
});
