/** Keys beyond this number are forgotten: their next one does not wait. */
const MAX_REMEMBERED = 10_000;

/** The first few of a key at once, then at a steady pace: else one tenant's burst would come before all others. */
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
