/** Caches at most `limit` values, each for `maxAgeMs` after it was requested. */
export class ExpiringCache<T> {
  /** In the order in which they were set, which is about that of `requestedAt`. */
  private readonly values = new Map<string, { readonly value: T; readonly requestedAt: number }>();

  constructor(
    private readonly limit: number,
    private readonly maxAgeMs: number,
  ) {}

  /** `now` and `requestedAt` are milliseconds of a monotonic clock. */
  get(key: string, now: number): T | undefined {
    const known = this.values.get(key);
    return known !== undefined && now - known.requestedAt <= this.maxAgeMs
      ? known.value
      : undefined;
  }

  set(key: string, value: T, requestedAt: number): void {
    this.values.delete(key);
    this.values.set(key, { value, requestedAt });
    for (const [oldest, known] of this.values) {
      if (this.values.size <= this.limit && requestedAt - known.requestedAt <= this.maxAgeMs)
        return;
      this.values.delete(oldest);
    }
  }

  delete(key: string): void {
    this.values.delete(key);
  }

  get size(): number {
    return this.values.size;
  }
}
