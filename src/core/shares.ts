/** The tenant, or all together, do as much as they may at a time: come again. */
export class ShareTaken extends Error {
  override name = 'ShareTaken';
}

/** How much of one kind goes on at a time: of a tenant, and in all. */
export class Shares {
  private readonly ofATenant: number;
  private readonly inAll: number;
  private readonly taken = new Map<string, number>();
  private all = 0;

  constructor(ofATenant: number, inAll: number) {
    this.ofATenant = ofATenant;
    this.inAll = inAll;
  }

  /** Answers what gives it back. Throws ShareTaken. */
  take(tenantId: string): () => void {
    const own = this.taken.get(tenantId) ?? 0;
    if (own >= this.ofATenant) throw new ShareTaken('the tenant has its share already');
    if (this.all >= this.inAll) throw new ShareTaken('all shares are taken');
    this.all += 1;
    this.taken.set(tenantId, own + 1);
    return () => {
      this.all -= 1;
      const left = (this.taken.get(tenantId) ?? 1) - 1;
      if (left === 0) this.taken.delete(tenantId);
      else this.taken.set(tenantId, left);
    };
  }
}
