import assert from 'node:assert/strict';
import { Batcher, type BatcherOptions } from '../../src/core/batcher.js';

/** Doubles numbers, and notes which were doubled together; what throws is said by the test. */
function doubling(
  options: BatcherOptions<number>,
  failing: (items: readonly number[]) => void = () => undefined,
) {
  const groups: number[][] = [];
  const together = new Batcher(options, async (items: readonly number[]) => {
    groups.push([...items]);
    await new Promise((resolve) => setImmediate(resolve));
    failing(items);
    return items.map((item) => 2 * item);
  });
  return {
    groups,
    ask: (...items: number[]) => Promise.allSettled(items.map((item) => together.submit(item))),
  };
}

const valuesOf = (results: readonly PromiseSettledResult<number>[]): (number | 'failed')[] =>
  results.map((result) => (result.status === 'fulfilled' ? result.value : 'failed'));

describe('a batcher', () => {
  it('a batcher starts at once, and what arrives meanwhile is the next group; each item gets its own result', async () => {
    const { groups, ask } = doubling({ maxWeight: 10 });
    assert.deepEqual(valuesOf(await ask(1, 2, 3)), [2, 4, 6]);
    assert.deepEqual(groups, [[1], [2, 3]]);
  });

  it('a batcher runs several groups at a time if that is allowed, the first of all items submitted in one turn', async () => {
    const { groups, ask } = doubling({ maxWeight: 2, concurrency: 2 });
    assert.deepEqual(valuesOf(await ask(1, 2, 3, 4, 5)), [2, 4, 6, 8, 10]);
    assert.deepEqual(groups, [[1, 2], [3, 4], [5]]);
  });

  it('a batcher makes no group heavier than allowed, and an item that is too heavy is a group of its own', async () => {
    const { groups, ask } = doubling({ maxWeight: 10, weigh: (item) => item });
    await ask(1, 6, 4, 20, 5, 5, 1);
    assert.deepEqual(groups, [[1], [6, 4], [20], [5, 5], [1]]);
  });

  it('a batcher retries the items of a failed group one by one if one of them may be at fault, and otherwise fails all', async () => {
    const isThree = (items: readonly number[]): void => assert(!items.includes(3));
    const alone = doubling({ maxWeight: 10, mayRetryAlone: () => true }, isThree);
    assert.deepEqual(valuesOf(await alone.ask(1, 2, 3, 4)), [2, 4, 'failed', 8]);
    const all = doubling({ maxWeight: 10 }, isThree);
    assert.deepEqual(valuesOf(await all.ask(1, 2, 3, 4)), [2, 'failed', 'failed', 'failed']);
    assert.deepEqual(all.groups, [[1], [2, 3, 4]]);
  });
});
