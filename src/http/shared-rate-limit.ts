import { createHash } from 'node:crypto';
import { createClient } from '@redis/client';
import { z } from 'zod';
import { withTimeout } from '../core/timers.js';
import {
  type BucketResult,
  type RateClass,
  RateLimiter,
  type RateLimits,
  type Rates,
  type RateState,
  rateState,
} from './rate-limit.js';

/**
 * Takes a token from a bucket, by Redis's clock. Stores when the bucket will be `full`; a time too far
 * ahead counts as an empty bucket. Returns, as text because Redis would truncate numbers, the ms
 * until it is full (`missing`) and the ms by which the request is too early (`over`).
 */
const SCRIPT = `
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local refill, burst = tonumber(ARGV[1]), tonumber(ARGV[2])
local full = tonumber(redis.call('GET', KEYS[1]) or now)
full = math.min(math.max(full, now), now + burst * refill)
local after = full + refill
local over = after - now - burst * refill
local missing = full - now
if over <= 0.01 then
  missing = after - now
  redis.call('SET', KEYS[1], string.format('%.4f', after), 'PX', math.ceil(missing))
end
return { over <= 0.01 and 1 or 0, string.format('%.4f', missing), string.format('%.4f', over) }
`;
const SHA1 = createHash('sha1').update(SCRIPT).digest('hex');

const SCRIPT_RESULT = z.tuple([z.number(), z.coerce.number(), z.coerce.number()]);

const CONNECT_MS = 1_000;
const MAX_RECONNECT_PAUSE_MS = 2_000;

interface SharedRateObserver {
  /** Called when Redis stops answering (false), and when it answers again. */
  changed(isAvailable: boolean): void;
  decidedLocally(): void;
}

/** A healthy Redis answers within a millisecond. */
const ANSWER_MS = 20;
const PAUSE_AFTER_FAILURE_MS = 1_000;

/**
 * A token's rate across processes, in buckets in Redis. Without Redis, each process grants its
 * share. Connects in the background. (docs/contract.md, Rate limits)
 */
export class SharedRateLimiter implements RateLimits {
  private readonly client;
  private readonly local: RateLimiter;
  private isAvailable = true;
  private retryAt = 0;

  /** `url` is `redis://user:password@host:port/database`; `rediss:` for TLS. */
  constructor(
    url: string,
    private readonly rates: Rates,
    processes: number,
    private readonly observer: SharedRateObserver,
    private readonly answerMs: number = ANSWER_MS,
  ) {
    this.local = new RateLimiter(rates, processes);
    this.client = createClient({
      url,
      // A request is decided without Redis if it cannot be sent now.
      disableOfflineQueue: true,
      socket: {
        connectTimeout: CONNECT_MS,
        reconnectStrategy: (retries: number) =>
          Math.min(MAX_RECONNECT_PAUSE_MS, 50 * 2 ** Math.min(retries, 10)),
      },
    });
    // An unhandled event would end the process.
    this.client.on('error', () => undefined);
    this.client.connect().catch(() => undefined);
  }

  get isReady(): boolean {
    return this.client.isReady;
  }

  /** Abandons commands under way. */
  close(): void {
    if (this.client.isOpen) this.client.destroy();
  }

  async take(rateClass: RateClass, tokenKeyId: string): Promise<RateState> {
    // Every request also counts locally, so that no bucket is full when Redis stops answering.
    const own = this.local.take(rateClass, tokenKeyId);
    const isPaused = !this.isAvailable && performance.now() < this.retryAt;
    if (!this.isReady || isPaused) return this.decideLocally(own);
    // After a failure, only one request in each pause is sent to Redis.
    if (!this.isAvailable) this.retryAt = performance.now() + PAUSE_AFTER_FAILURE_MS;
    const { burst, perSecond } = this.rates[rateClass];
    const refillMs = 1_000 / perSecond;
    const bucket = `rate/${rateClass}/${tokenKeyId}`;
    const taken = await withTimeout(
      this.answerMs,
      () => this.takeShared(bucket, burst, refillMs),
      null,
    ).catch(() => null);
    if (taken !== null) {
      this.setAvailable(true);
      return rateState(taken, burst, refillMs);
    }
    this.retryAt = performance.now() + PAUSE_AFTER_FAILURE_MS;
    return this.decideLocally(own);
  }

  /** Rejects if Redis does not answer. */
  private async takeShared(bucket: string, burst: number, refillMs: number): Promise<BucketResult> {
    const input = { keys: [bucket], arguments: [String(refillMs), String(burst)] };
    const answer: unknown = await this.client.evalSha(SHA1, input).catch((failure: unknown) => {
      // Not loaded yet, or Redis was restarted.
      if (failure instanceof Error && failure.message.startsWith('NOSCRIPT'))
        return this.client.eval(SCRIPT, input);
      throw failure;
    });
    const [allowed, missingMs, overMs] = SCRIPT_RESULT.parse(answer);
    return { allowed: allowed === 1, missingMs, overMs };
  }

  private decideLocally(own: RateState): RateState {
    this.setAvailable(false);
    this.observer.decidedLocally();
    return own;
  }

  private setAvailable(isAvailable: boolean): void {
    if (this.isAvailable !== isAvailable) this.observer.changed(isAvailable);
    this.isAvailable = isAvailable;
  }
}
