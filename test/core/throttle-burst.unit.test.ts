import assert from 'node:assert/strict';
import { BurstSpreader } from '../../src/core/throttle.js';

describe('A spreader of bursts', () => {
  let now = 0;
  const spreader = (): BurstSpreader => new BurstSpreader(3, 500, () => now);

  it('A spreader of bursts lets the first few of a key go at once, and sets the others apart', () => {
    const own = spreader();
    assert.deepEqual(
      Array.from({ length: 6 }, () => own.delayOf('acme')),
      [0, 0, 0, 500, 1_000, 1_500],
    );
  });

  it('A spreader of bursts delays nobody for what another key does', () => {
    const own = spreader();
    for (let count = 0; count < 100; count += 1) own.delayOf('acme');
    assert.equal(own.delayOf('globex'), 0);
  });

  it('A spreader of bursts forgets with time: who has waited goes at once again', () => {
    const own = spreader();
    for (let count = 0; count < 4; count += 1) own.delayOf('acme');
    now += 2_000;
    assert.equal(own.delayOf('acme'), 0);
  });
});
