/** Thrown if the tenant, or all tenants together, have the maximum of work in progress. */
export class LimitReached extends Error {
  override name = 'LimitReached';

  constructor(
    message: string,
    /** How often the tenant was refused before, since it last acquired a permit. */
    readonly previousRefusals: number,
  ) {
    super(message);
  }
}

/** Limits the work in progress, per tenant and in total. */
export class ConcurrencyLimit {
  private readonly inProgress = new Map<string, number>();
  private readonly refused = new Map<string, number>();
  private total = 0;

  constructor(
    private readonly perTenant: number,
    private readonly inTotal: number,
  ) {}

  /** Acquires a permit and returns the function that releases it. Throws LimitReached. */
  take(tenantId: string): () => void {
    const release = this.tryTake(tenantId);
    if (release === null) throw this.refusal(tenantId);
    this.refused.delete(tenantId);
    return release;
  }

  /** Acquires a permit and returns the function that releases it, or null at a maximum. */
  tryTake(tenantId: string): (() => void) | null {
    const own = this.inProgress.get(tenantId) ?? 0;
    if (own >= this.perTenant || this.total >= this.inTotal) return null;
    this.total += 1;
    this.inProgress.set(tenantId, own + 1);
    return () => {
      this.total -= 1;
      const left = (this.inProgress.get(tenantId) ?? 1) - 1;
      if (left === 0) this.inProgress.delete(tenantId);
      else this.inProgress.set(tenantId, left);
    };
  }

  private refusal(tenantId: string): LimitReached {
    const message =
      this.total >= this.inTotal
        ? 'the maximum of all tenants is reached'
        : 'the tenant has its maximum already';
    const previous = this.refused.get(tenantId) ?? 0;
    this.refused.set(tenantId, previous + 1);
    return new LimitReached(message, previous);
  }
}
