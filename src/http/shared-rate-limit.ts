import {
  type RateClass,
  RateLimiter,
  type RateLimits,
  type Rates,
  type RateState,
  rateState,
  type BucketResult,
} from './rate-limit.js';

export interface BucketStore {
  readonly isThere: boolean;
  /** Rejects if the store does not answer. */
  take(bucket: string, burst: number, refillMs: number): Promise<BucketResult>;
}

export interface SharedRateObserver {
  /** Called when the store stops answering (false), and when it answers again. */
  changed(isThere: boolean): void;
  aloneDecided(): void;
}

/** A healthy store answers within a millisecond. */
const ANSWER_MS = 20;
/** How long the store is not asked after a failure. */
const REST_MS = 1_000;

/**
 * A token's rate across processes. Without the store, each process grants its share.
 * (docs/contract.md, Rate limits)
 */
export class SharedRateLimiter implements RateLimits {
  private readonly alone: RateLimiter;
  private isWell = true;
  private restsUntil = 0;

  /** Each of `processes` grants its share when it decides alone. */
  constructor(
    private readonly rates: Rates,
    processes: number,
    private readonly store: BucketStore,
    private readonly observer: SharedRateObserver,
    private readonly answerMs: number = ANSWER_MS,
  ) {
    this.alone = new RateLimiter(rates, processes);
  }

  take(rateClass: RateClass, tokenKeyId: string): RateState | Promise<RateState> {
    // Counted, so that a token has no full bucket when the store stops answering.
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
    const { burst, perSecond } = this.rates[rateClass];
    const refillMs = 1_000 / perSecond;
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

/** Drops a late response, but not one that arrived while this process was busy. */
function within<T>(ms: number, answer: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = (): void => reject(new Error('no answer in time'));
    // Sockets are read between a timer and an immediate.
    const timer = setTimeout(() => setImmediate(giveUp), ms);
    const end = (): void => clearTimeout(timer);
    answer.then(resolve, reject).finally(end);
  });
}
