import assert from 'node:assert/strict';
import { type Instant, instant } from '../../src/core/instant.js';
import {
  eachRateClass,
  RATE_CLASSES,
  RateLimiter,
  TokenBuckets,
} from '../../src/http/rate-limit.js';

describe('rate limits', () => {
  let now: Instant;
  const clock = (): Instant => now;
  beforeEach(() => {
    now = instant(1_000_000);
  });
  const later = (ms: number): void => {
    now = instant(now + ms);
  };

  it('a burst passes at once, then one request for each refill', () => {
    const buckets = new TokenBuckets({ perSecond: 5, burst: 20 }, 1, clock);
    for (let left = 19; left >= 0; left -= 1) {
      const state = buckets.take('a');
      assert.deepEqual([state.allowed, state.remaining, state.limit], [true, left, 20]);
    }
    assert.equal(buckets.take('a').allowed, false);
    later(199);
    assert.equal(buckets.take('a').allowed, false);
    later(1);
    assert.equal(buckets.take('a').allowed, true);
    assert.equal(buckets.take('a').allowed, false);
  });

  it('a refused request costs nothing, and waiting for Retry-After, whole seconds and at least 1, is enough', () => {
    const buckets = new TokenBuckets({ perSecond: 0.4, burst: 1 }, 1, clock);
    assert.equal(buckets.take('a').retryAfterS, 0);
    for (let tries = 0; tries < 100; tries += 1) assert.equal(buckets.take('a').retryAfterS, 3);
    later(2_400);
    assert.equal(buckets.take('a').retryAfterS, 1);
    later(1_000);
    assert.equal(buckets.take('a').allowed, true);
  });

  it('tokens do not share a bucket, and neither do classes of requests', () => {
    const rate = { perSecond: 1, burst: 1 };
    const limiter = new RateLimiter(
      eachRateClass(() => rate),
      1,
      clock,
    );
    for (const rateClass of RATE_CLASSES) {
      assert.equal(limiter.take(rateClass, 'a').allowed, true);
      assert.equal(limiter.take(rateClass, 'a').allowed, false);
      assert.equal(limiter.take(rateClass, 'b').allowed, true);
    }
  });

  it('each of several processes grants its share of a rate limit, and at least one request', () => {
    const buckets = new TokenBuckets({ perSecond: 100, burst: 200 }, 4, clock);
    assert.equal(buckets.take('a').limit, 50);
    for (let count = 1; count < 50; count += 1) assert.equal(buckets.take('a').allowed, true);
    later(39);
    assert.equal(buckets.take('a').allowed, false);
    later(1);
    assert.equal(buckets.take('a').allowed, true);
    assert.equal(new TokenBuckets({ perSecond: 1, burst: 2 }, 8, clock).take('a').allowed, true);
  });
});
