import {
  eachRateClass,
  type RateClass,
  RateLimiter,
  type RateLimits,
  type Rates,
  type RateState,
  rateState,
  type BucketResult,
} from './rate-limit.js';

export interface BucketStore {
  /** False while a request to the store would be pointless. */
  readonly isThere: boolean;
  /** Takes a token from the bucket, if it has one. Rejects if the store does not answer. */
  take(bucket: string, burst: number, refillMs: number): Promise<BucketResult>;
}

export interface SharedRateObserver {
  /** Called when the store stops answering (false), and when it answers again. */
  changed(isThere: boolean): void;
  aloneDecided(): void;
}

/** How long a request waits for the store, which answers within one millisecond when healthy. */
const ANSWER_MS = 20;
/** How long the store is not asked after it failed to answer; then one request tries again. */
const REST_MS = 1_000;

/**
 * A token's rate across all processes. While the store does not answer, each process grants
 * its share, as it would without a store, so no request is refused or delayed by the store.
 * (docs/contract.md, Rate limits)
 */
export class SharedRateLimiter implements RateLimits {
  private readonly alone: RateLimiter;
  private readonly buckets: Readonly<
    Record<RateClass, { readonly burst: number; readonly refillMs: number }>
  >;
  private isWell = true;
  private restsUntil = 0;

  /** Each of `processes` grants its share of the rates when it decides alone. */
  constructor(
    rates: Rates,
    processes: number,
    private readonly store: BucketStore,
    private readonly observer: SharedRateObserver,
    private readonly answerMs: number = ANSWER_MS,
  ) {
    this.alone = new RateLimiter(rates, processes);
    this.buckets = eachRateClass((rateClass) => {
      const { perSecond, burst } = rates[rateClass];
      return { burst, refillMs: 1_000 / perSecond };
    });
  }

  take(rateClass: RateClass, tokenKeyId: string): RateState | Promise<RateState> {
    // Always counted, so that a token does not start with a full bucket when the store stops
    // answering.
    const own = this.alone.take(rateClass, tokenKeyId);
    if (!this.mayAsk()) {
      this.observer.aloneDecided();
      return own;
    }
    return this.ask(rateClass, tokenKeyId, own);
  }

  private mayAsk(): boolean {
    if (this.isWell && this.store.isThere) return true;
    if (this.isWell) this.changeTo(false);
    if (!this.store.isThere || performance.now() < this.restsUntil) return false;
    this.restsUntil = performance.now() + REST_MS;
    return true;
  }

  private async ask(rateClass: RateClass, tokenKeyId: string, own: RateState): Promise<RateState> {
    const { burst, refillMs } = this.buckets[rateClass];
    try {
      const taken = await within(
        this.answerMs,
        this.store.take(`rate/${rateClass}/${tokenKeyId}`, burst, refillMs),
      );
      this.changeTo(true);
      return rateState(taken, burst, refillMs);
    } catch {
      this.changeTo(false);
      this.observer.aloneDecided();
      return own;
    }
  }

  private changeTo(isWell: boolean): void {
    if (!isWell) this.restsUntil = performance.now() + REST_MS;
    if (this.isWell === isWell) return;
    this.isWell = isWell;
    this.observer.changed(isWell);
  }
}

/**
 * Drops a response that is too late; one that arrived while this process was busy is not too late.
 */
function within<T>(ms: number, answer: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = (): void => reject(new Error('no answer in time'));
    // Sockets are read between a timer and an immediate.
    const timer = setTimeout(() => setImmediate(giveUp), ms);
    const end = (): void => clearTimeout(timer);
    answer.then(resolve, reject).finally(end);
  });
}
