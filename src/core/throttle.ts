const EVERY_MS = 1;

/** A limited number of operations begin in each millisecond; further ones wait, tenants in turn. */
export class Throttle {
  private readonly waiting = new Map<string, (() => void)[]>();
  private left: number;
  private timer: NodeJS.Timeout | null = null;

  constructor(private readonly most: number) {
    this.left = most;
  }

  async next(tenantId: string): Promise<void> {
    this.timer ??= setTimeout(() => this.refill(), EVERY_MS);
    if (this.left > 0) {
      this.left -= 1;
      return;
    }
    await new Promise<void>((begin) => {
      const own = this.waiting.get(tenantId);
      if (own === undefined) this.waiting.set(tenantId, [begin]);
      else own.push(begin);
    });
  }

  private refill(): void {
    this.timer = null;
    for (this.left = this.most; this.left > 0; this.left -= 1) {
      const [first] = this.waiting;
      if (first === undefined) break;
      const [tenantId, [begin, ...others]] = first;
      this.waiting.delete(tenantId);
      if (others.length > 0) this.waiting.set(tenantId, others);
      begin?.();
    }
    if (this.left < this.most) this.timer = setTimeout(() => this.refill(), EVERY_MS);
  }
}

/** Keys whose bursts are remembered. The next item of any other key does not wait. */
const MAX_REMEMBERED = 10_000;

/** Lets a short burst of each key pass at once and delays the following items to a steady pace. */
export class BurstSpreader {
  /** When each key may have its next item once its burst is used up. */
  private readonly nextAtMs = new Map<string, number>();

  constructor(
    private readonly burst: number,
    private readonly everyMs: number,
    private readonly elapsed: () => number = () => performance.now(),
  ) {}

  /** Returns the delay of an item in milliseconds; 0 if it need not wait. */
  delayOf(key: string): number {
    const now = this.elapsed();
    const own = Math.max(this.nextAtMs.get(key) ?? 0, now) + this.everyMs;
    this.nextAtMs.delete(key);
    this.nextAtMs.set(key, own);
    const [oldest] = this.nextAtMs.keys();
    if (this.nextAtMs.size > MAX_REMEMBERED && oldest !== undefined) this.nextAtMs.delete(oldest);
    return Math.max(0, Math.round(own - now - this.burst * this.everyMs));
  }
}
