import { createHash } from 'node:crypto';
import { createClient } from '@redis/client';
import { z } from 'zod';
import { withTimeout } from '../core/pause.js';
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
 * TokenBuckets on Redis's own clock. Numbers are text, since Redis would truncate them. A time too
 * far ahead counts as an empty bucket.
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

const ANSWER = z.tuple([z.number(), z.coerce.number(), z.coerce.number()]);

const CONNECT_MS = 1_000;
const LONGEST_PAUSE_MS = 2_000;

/** Buckets shared by processes. Connects in the background. */
export class RedisBuckets {
  private readonly client;

  /** `url` is `redis://user:password@host:port/database`; `rediss:` for TLS. */
  constructor(url: string) {
    this.client = createClient({
      url,
      // A request is decided without the store if it cannot be sent now.
      disableOfflineQueue: true,
      socket: {
        connectTimeout: CONNECT_MS,
        reconnectStrategy: (retries: number) =>
          Math.min(LONGEST_PAUSE_MS, 50 * 2 ** Math.min(retries, 10)),
      },
    });
    // An unhandled event would end the process.
    this.client.on('error', () => undefined);
    this.client.connect().catch(() => undefined);
  }

  get isThere(): boolean {
    return this.client.isReady;
  }

  /** Rejects if Redis does not answer. */
  async take(bucket: string, burst: number, refillMs: number): Promise<BucketResult> {
    const given = { keys: [bucket], arguments: [String(refillMs), String(burst)] };
    const answer: unknown = await this.client.evalSha(SHA1, given).catch((failure: unknown) => {
      // Not loaded yet, or Redis was restarted.
      if (failure instanceof Error && failure.message.startsWith('NOSCRIPT'))
        return this.client.eval(SCRIPT, given);
      throw failure;
    });
    const [allowed, missingMs, overMs] = ANSWER.parse(answer);
    return { allowed: allowed === 1, missingMs, overMs };
  }

  /** Abandons commands under way. */
  close(): void {
    if (this.client.isOpen) this.client.destroy();
  }
}

interface SharedRateObserver {
  /** Called when Redis stops answering (false), and when it answers again. */
  changed(isThere: boolean): void;
  aloneDecided(): void;
}

/** A healthy Redis answers within a millisecond. */
const ANSWER_MS = 20;
/** How long Redis is not asked after a failure. */
const REST_MS = 1_000;

/**
 * A token's rate across processes. Without Redis, each process grants its share.
 * (docs/contract.md, Rate limits)
 */
export class SharedRateLimiter implements RateLimits {
  private readonly alone: RateLimiter;
  private isWell = true;
  private restsUntil = 0;

  constructor(
    private readonly rates: Rates,
    processes: number,
    private readonly store: RedisBuckets,
    private readonly observer: SharedRateObserver,
    private readonly answerMs: number = ANSWER_MS,
  ) {
    this.alone = new RateLimiter(rates, processes);
  }

  take(rateClass: RateClass, tokenKeyId: string): RateState | Promise<RateState> {
    // Counted, so that a token has no full bucket when Redis stops answering.
    const own = this.alone.take(rateClass, tokenKeyId);
    const isResting = !this.isWell && performance.now() < this.restsUntil;
    if (!this.store.isThere || isResting) return this.decideAlone(own);
    // After a failure, one request at a time asks.
    if (!this.isWell) this.restsUntil = performance.now() + REST_MS;
    return this.ask(rateClass, tokenKeyId, own);
  }

  private async ask(rateClass: RateClass, tokenKeyId: string, own: RateState): Promise<RateState> {
    const { burst, perSecond } = this.rates[rateClass];
    const refillMs = 1_000 / perSecond;
    const bucket = `rate/${rateClass}/${tokenKeyId}`;
    const taken = await withTimeout(
      this.answerMs,
      () => this.store.take(bucket, burst, refillMs),
      null,
    ).catch(() => null);
    if (taken !== null) {
      this.changeTo(true);
      return rateState(taken, burst, refillMs);
    }
    this.restsUntil = performance.now() + REST_MS;
    return this.decideAlone(own);
  }

  private decideAlone(own: RateState): RateState {
    this.changeTo(false);
    this.observer.aloneDecided();
    return own;
  }

  private changeTo(isWell: boolean): void {
    if (this.isWell !== isWell) this.observer.changed(isWell);
    this.isWell = isWell;
  }
}
