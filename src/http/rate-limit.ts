/** Classes of requests. A request counts only in its route's class. */
export const RATE_CLASS_DEFAULTS = {
  requests: { rate: 100, burst: 200, seconds: 1 },
  lookup: { rate: 5, burst: 20, seconds: 1 },
  uploads: { rate: 10, burst: 10, seconds: 60 },
  redeliver: { rate: 60, burst: 60, seconds: 60 },
} as const;

export type RateClass = keyof typeof RATE_CLASS_DEFAULTS;
export const RATE_CLASSES = Object.keys(RATE_CLASS_DEFAULTS) as readonly RateClass[];

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
  /** Whole seconds until the next request is allowed; 0 if this request was. */
  readonly retryAfterS: number;
}

export type Rates = Readonly<Record<RateClass, Rate>>;

export interface RateLimits {
  take(rateClass: RateClass, tokenKeyId: string): RateState | Promise<RateState>;
  close(): void;
}

export interface BucketResult {
  readonly allowed: boolean;
  readonly missingMs: number;
  /** How much too early the request was; meaningless if it was allowed. */
  readonly overMs: number;
}

/** Returns the state of a bucket of `burst` tokens that gains one every `refillMs`. */
export function rateState(
  { allowed, missingMs, overMs }: BucketResult,
  burst: number,
  refillMs: number,
): RateState {
  return {
    allowed,
    limit: burst,
    remaining: allowed ? Math.max(0, Math.floor(burst - missingMs / refillMs + 1e-6)) : 0,
    resetS: Math.ceil(missingMs / 1000),
    retryAfterS: allowed ? 0 : Math.max(1, Math.ceil(overMs / 1000)),
  };
}

/** Buckets kept in memory. A full bucket needs no entry. */
const MAX_BUCKETS = 100_000;

/** Token buckets (GCRA), each stored as the time at which it is full again. */
export class RateLimiter implements RateLimits {
  private readonly classes: Readonly<Record<RateClass, TokenBuckets>>;

  /** Each of `processes` grants its share of the rates. */
  constructor(rates: Rates, processes: number, elapsed?: () => number) {
    this.classes = eachRateClass(
      (rateClass) => new TokenBuckets(rates[rateClass], processes, elapsed),
    );
  }

  take(rateClass: RateClass, tokenKeyId: string): RateState {
    return this.classes[rateClass].take(tokenKeyId);
  }

  close(): void {}
}

export function eachRateClass<T>(valueOf: (rateClass: RateClass) => T): Record<RateClass, T> {
  return Object.fromEntries(RATE_CLASSES.map((one) => [one, valueOf(one)])) as Record<RateClass, T>;
}

export class TokenBuckets {
  private readonly fullAtMs = new Map<string, number>();
  private readonly refillMs: number;
  private readonly burst: number;

  /** `elapsed` never jumps, unlike a wall clock. */
  constructor(
    rate: Rate,
    processes: number,
    private readonly elapsed: () => number = () => performance.now(),
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
    // How far the request exceeds the burst, as time.
    const overMs = after - now - this.burst * this.refillMs;
    const allowed = overMs <= 1e-6;
    const missingMs = (allowed ? after : fullAt) - now;
    if (allowed) {
      if (known === undefined && this.fullAtMs.size >= MAX_BUCKETS) this.makeRoom(now);
      this.fullAtMs.set(key, after);
    }
    return rateState({ allowed, missingMs, overMs }, this.burst, this.refillMs);
  }

  private makeRoom(now: number): void {
    for (const [key, fullAt] of this.fullAtMs) if (fullAt <= now) this.fullAtMs.delete(key);
    // If this many tokens are in use, the oldest starts over.
    for (const key of this.fullAtMs.keys()) {
      if (this.fullAtMs.size < MAX_BUCKETS) break;
      this.fullAtMs.delete(key);
    }
  }
}
