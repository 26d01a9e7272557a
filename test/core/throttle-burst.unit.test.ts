import assert from 'node:assert/strict';
import { BurstSpreader } from '../../src/core/throttle.js';

describe('a burst throttle', () => {
  let now = 0;
  const spreader = (): BurstSpreader => new BurstSpreader(3, 500, () => now);

  it('a burst throttle lets the first few of a key go at once, and delays all later ones', () => {
    const own = spreader();
    assert.deepEqual(
      Array.from({ length: 6 }, () => own.delayOf('acme')),
      [0, 0, 0, 500, 1_000, 1_500],
    );
  });

  it('a burst throttle delays nobody for what another key does', () => {
    const own = spreader();
    for (let count = 0; count < 100; count += 1) own.delayOf('acme');
    assert.equal(own.delayOf('globex'), 0);
  });

  it('a burst throttle forgets with time: a key that has waited goes at once again', () => {
    const own = spreader();
    for (let count = 0; count < 4; count += 1) own.delayOf('acme');
    now += 2_000;
    assert.equal(own.delayOf('acme'), 0);
  });
});
