/** Thrown if the tenant, or all tenants together, have the maximum of work in progress. */
export class LimitReached extends Error {
  override name = 'LimitReached';

  constructor(
    message: string,
    /** The tenant's refusals since its last success, after which it waits longer each time. */
    readonly before: number,
  ) {
    super(message);
  }
}

/** Limits work under way per tenant and in all. */
export class ConcurrencyLimit {
  private readonly taken = new Map<string, number>();
  private readonly refused = new Map<string, number>();
  private all = 0;

  constructor(
    private readonly ofATenant: number,
    private readonly inAll: number,
  ) {}

  /** Acquires a permit and returns the function that releases it. Throws LimitReached. */
  take(tenantId: string): () => void {
    const own = this.taken.get(tenantId) ?? 0;
    if (own >= this.ofATenant) throw this.refusal(tenantId, 'the tenant has its maximum already');
    if (this.all >= this.inAll)
      throw this.refusal(tenantId, 'the maximum of all tenants is reached');
    this.refused.delete(tenantId);
    this.all += 1;
    this.taken.set(tenantId, own + 1);
    return () => {
      this.all -= 1;
      const left = (this.taken.get(tenantId) ?? 1) - 1;
      if (left === 0) this.taken.delete(tenantId);
      else this.taken.set(tenantId, left);
    };
  }

  private refusal(tenantId: string, message: string): LimitReached {
    const before = this.refused.get(tenantId) ?? 0;
    this.refused.set(tenantId, before + 1);
    return new LimitReached(message, before);
  }
}
