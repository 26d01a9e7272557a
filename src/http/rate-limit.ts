/** What is counted apart, each with its variables and defaults. A request counts in its route's class alone. */
const LIST = {
  requests: perSecond('requests', ['RATE_LIMIT_REQUESTS_PER_S', 100], ['RATE_LIMIT_BURST', 200]),
  lookup: perSecond('lookups', ['RATE_LIMIT_LOOKUP_PER_S', 5], ['RATE_LIMIT_LOOKUP_BURST', 20]),
  uploads: perMinute('file uploads', ['RATE_LIMIT_UPLOADS_PER_MIN', 10]),
  redeliver: perMinute('redeliveries and test deliveries', ['RATE_LIMIT_REDELIVER_PER_MIN', 60]),
} as const;

export type RateClass = keyof typeof LIST;
export type RateVariable = (typeof LIST)[RateClass]['rate' | 'burst']['variable'];
export const LISTED_RATES: Readonly<Record<RateClass, ListedRate<RateVariable>>> = LIST;
export const RATE_CLASSES = Object.keys(LIST) as readonly RateClass[];
/** Every variable of theirs; one that is both a rate and a burst twice. */
export const RATE_SETTINGS: readonly RateSetting<RateVariable>[] = Object.values(LIST).flatMap(({ rate, burst }) => [
  rate,
  burst,
]);

interface ListedRate<Variable> {
  /** The time in which so many are allowed. */
  readonly seconds: number;
  readonly rate: RateSetting<Variable>;
  readonly burst: RateSetting<Variable>;
}

interface RateSetting<Variable> {
  readonly variable: Variable;
  readonly usual: number;
  readonly meaning: string;
}

function perSecond<Rate extends string, Burst extends string>(
  counted: string,
  [rate, usual]: readonly [Rate, number],
  [burst, atOnce]: readonly [Burst, number],
): ListedRate<Rate | Burst> {
  return {
    seconds: 1,
    rate: { variable: rate, usual, meaning: `${counted} per second with one token` },
    burst: { variable: burst, usual: atOnce, meaning: `${counted} at once with one token` },
  };
}

function perMinute<Rate extends string>(counted: string, [variable, usual]: readonly [Rate, number]): ListedRate<Rate> {
  const both = { variable, usual, meaning: `${counted} per minute with one token, and at once` };
  return { seconds: 60, rate: both, burst: both };
}

export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

export interface RateState {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Whole seconds until the bucket is full again. */
  readonly resetS: number;
  /** Whole seconds until the next request is allowed; 0 if this one was. */
  readonly retryAfterS: number;
}

export type Rates = Readonly<Record<RateClass, Rate>>;

/** Takes from a token's bucket. Synchronous if nobody has to be asked, so that a request does not wait. */
export interface RateLimits {
  take(rateClass: RateClass, tokenKeyId: string): RateState | Promise<RateState>;
}

/** The state of a bucket after a request, in milliseconds. */
export interface Taken {
  readonly allowed: boolean;
  readonly missingMs: number;
  /** How much too early the request came; meaningless if it was allowed. */
  readonly overMs: number;
}

/** The same for answers, for a bucket of `burst` tokens that gains one every `refillMs`. */
export function rateState({ allowed, missingMs, overMs }: Taken, burst: number, refillMs: number): RateState {
  return {
    allowed,
    limit: burst,
    remaining: allowed ? Math.max(0, Math.floor(burst - missingMs / refillMs + 1e-6)) : 0,
    resetS: Math.ceil(missingMs / 1000),
    retryAfterS: allowed ? 0 : Math.max(1, Math.ceil(overMs / 1000)),
  };
}

/** One entry per token and class; an entry whose bucket is full again may be dropped. */
const MAX_BUCKETS = 100_000;

/**
 * Token buckets in memory, stored as GCRA's single number: the time at which the bucket is full again.
 *
 * Not rate-limiter-flexible: its memory limiter counts in fixed windows (twice the rate passes at a boundary), its
 * burst is a second limiter, consulted after the first has refused, and each key costs a timer and two promises a
 * request.
 */
export class RateLimiter implements RateLimits {
  private readonly classes: Readonly<Record<RateClass, TokenBuckets>>;

  /** Rates are for the whole service; each of `processes` grants its share. `elapsed` as in TokenBuckets. */
  constructor(rates: Rates, processes: number, elapsed?: () => number) {
    this.classes = eachRateClass((rateClass) => new TokenBuckets(rates[rateClass], processes, elapsed));
  }

  take(rateClass: RateClass, tokenKeyId: string): RateState {
    return this.classes[rateClass].take(tokenKeyId);
  }
}

export function eachRateClass<T>(valueOf: (rateClass: RateClass) => T): Record<RateClass, T> {
  return Object.fromEntries(RATE_CLASSES.map((one) => [one, valueOf(one)])) as Record<RateClass, T>;
}

export class TokenBuckets {
  private readonly fullAtMs = new Map<string, number>();
  private readonly refillMs: number;
  private readonly burst: number;

  /** `elapsed`: milliseconds that never jump, since a wall clock that is set back would lock out every token. */
  constructor(
    rate: Rate,
    processes: number,
    private readonly elapsed: () => number = () => performance.now(),
    private readonly most: number = MAX_BUCKETS,
  ) {
    this.refillMs = (1000 * processes) / rate.perSecond;
    this.burst = Math.max(1, Math.floor(rate.burst / processes));
  }

  get size(): number {
    return this.fullAtMs.size;
  }

  take(key: string): RateState {
    const now = this.elapsed();
    const known = this.fullAtMs.get(key);
    const fullAt = known === undefined || known < now ? now : known;
    const after = fullAt + this.refillMs;
    // What the bucket lacks after this request, as time, which must not exceed the bucket.
    const overMs = after - now - this.burst * this.refillMs;
    const allowed = overMs <= 1e-6;
    const missingMs = (allowed ? after : fullAt) - now;
    if (allowed) {
      if (known === undefined && this.fullAtMs.size >= this.most) this.makeRoom(now);
      this.fullAtMs.set(key, after);
    }
    return rateState({ allowed, missingMs, overMs }, this.burst, this.refillMs);
  }

  private makeRoom(now: number): void {
    for (const [key, fullAt] of this.fullAtMs) if (fullAt <= now) this.fullAtMs.delete(key);
    // Only valid tokens have buckets. If this many are busy at once, the oldest starts over.
    for (const key of this.fullAtMs.keys()) {
      if (this.fullAtMs.size < this.most) break;
      this.fullAtMs.delete(key);
    }
  }
}
