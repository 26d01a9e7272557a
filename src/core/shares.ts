/** The tenant, or all together, do as much as they may at a time: come again. */
export class ShareTaken extends Error {
  override name = 'ShareTaken';

  constructor(
    message: string,
    /** How many of the tenant were refused since it last got a share: if each comes later than the last, they come in turn. */
    readonly before: number,
  ) {
    super(message);
  }
}

/** How much of one kind goes on at a time: of a tenant, and in all. */
export class Shares {
  private readonly taken = new Map<string, number>();
  private readonly refused = new Map<string, number>();
  private all = 0;

  constructor(
    private readonly ofATenant: number,
    private readonly inAll: number,
  ) {}

  /** Answers what gives it back. Throws ShareTaken. */
  take(tenantId: string): () => void {
    const own = this.taken.get(tenantId) ?? 0;
    if (own >= this.ofATenant) throw this.refusal(tenantId, 'the tenant has its share already');
    if (this.all >= this.inAll) throw this.refusal(tenantId, 'all shares are taken');
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

  private refusal(tenantId: string, message: string): ShareTaken {
    const before = this.refused.get(tenantId) ?? 0;
    this.refused.set(tenantId, before + 1);
    return new ShareTaken(message, before);
  }
}
