/** Values that stay valid for a short time after they were requested, at most `limit`. */
export class ExpiringCache<T> {
  /** Roughly in the order of `askedAt`. */
  private readonly values = new Map<string, { readonly value: T; readonly askedAt: number }>();

  constructor(
    private readonly limit: number,
    private readonly maxAgeMs: number,
  ) {}

  /** `now` and `askedAt` are milliseconds of one clock that never jumps. */
  get(key: string, now: number): T | undefined {
    const known = this.values.get(key);
    return known !== undefined && now - known.askedAt <= this.maxAgeMs ? known.value : undefined;
  }

  set(key: string, value: T, askedAt: number): void {
    this.values.delete(key);
    this.values.set(key, { value, askedAt });
    for (const [oldest, known] of this.values) {
      if (this.values.size <= this.limit && askedAt - known.askedAt <= this.maxAgeMs) return;
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
