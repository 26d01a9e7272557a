/** Who has waited this long is forgotten: their next one waits for nothing. */
const MAX_REMEMBERED = 10_000;

/**
 * Sets apart in time what one key does in a burst: the first few at once, then one after the other at a steady pace. A burst
 * of one tenant's would otherwise stand as a whole before anybody else's next one, wherever work is served in its order.
 */
export class Pace {
  /** When the key may have its next one, by the same measure as `elapsed`, with the burst taken as used. */
  private readonly nextAtMs = new Map<string, number>();

  /** `elapsed` are milliseconds that never jump. */
  constructor(
    private readonly burst: number,
    private readonly everyMs: number,
    private readonly elapsed: () => number = () => performance.now(),
  ) {}

  /** In milliseconds, from now: 0 for one that need not wait. */
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
