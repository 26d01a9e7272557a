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

describe('what is done together', () => {
  it('what is done together begins at once, and what arrives meanwhile is the next group; each gets its own answer', async () => {
    const { groups, ask } = doubling({ maxWeight: 10 });
    assert.deepEqual(valuesOf(await ask(1, 2, 3)), [2, 4, 6]);
    assert.deepEqual(groups, [[1], [2, 3]]);
  });

  it('what is done together is in several groups at a time where that is allowed, the first of all that is asked in one turn', async () => {
    const { groups, ask } = doubling({ maxWeight: 2, concurrency: 2 });
    assert.deepEqual(valuesOf(await ask(1, 2, 3, 4, 5)), [2, 4, 6, 8, 10]);
    assert.deepEqual(groups, [[1, 2], [3, 4], [5]]);
  });

  it('what is done together is in no larger groups than are allowed by weight, and one that is too heavy goes alone', async () => {
    const { groups, ask } = doubling({ maxWeight: 10, weigh: (item) => item });
    await ask(1, 6, 4, 20, 5, 5, 1);
    assert.deepEqual(groups, [[1], [6, 4], [20], [5, 5], [1]]);
  });

  it('what is done together is tried one by one if one may be at fault, and fails for all otherwise', async () => {
    const isThree = (items: readonly number[]): void => assert(!items.includes(3));
    const alone = doubling({ maxWeight: 10, mayRetryAlone: () => true }, isThree);
    assert.deepEqual(valuesOf(await alone.ask(1, 2, 3, 4)), [2, 4, 'failed', 8]);
    const all = doubling({ maxWeight: 10 }, isThree);
    assert.deepEqual(valuesOf(await all.ask(1, 2, 3, 4)), [2, 'failed', 'failed', 'failed']);
    assert.deepEqual(all.groups, [[1], [2, 3, 4]]);
  });
});
