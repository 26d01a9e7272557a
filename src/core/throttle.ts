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
