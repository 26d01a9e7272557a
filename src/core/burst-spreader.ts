/** Keys beyond this number are forgotten: their next one does not wait. */
const MAX_REMEMBERED = 10_000;

/**
 * Spreads a key's bursts over time: the first few at once, then one after the other at a steady pace. Otherwise,
 * wherever work is served in order, one tenant's whole burst would come before anybody else's next item.
 */
export class BurstSpreader {
  /** When the key may have its next one once its burst is used up, on the scale of `elapsed`. */
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
