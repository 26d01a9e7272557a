import { setPriority } from 'node:os';

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

interface Waiter {
  readonly tenantId: string;
  readonly admit: () => void;
}

/** Tenants whose last turn is remembered. Any other tenant counts as never having had a turn. */
const MAX_REMEMBERED = 1_000;

/**
 * Serves tenants in turn: a tenant occupies at most one place, and the next place goes to the
 * waiting tenant whose last turn is longest ago.
 */
export class FairQueue {
  private readonly inside = new Set<string>();
  private waiting: Waiter[] = [];
  private readonly turns = new Map<string, number>();
  private lastTurn = 0;

  constructor(private readonly places: number) {}

  /** Returns the function that releases the place. Rejects with the signal's reason. */
  async enter(tenantId: string, signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      const giveUp = (): void => {
        this.waiting = this.waiting.filter((one) => one !== own);
        reject(signal?.reason);
      };
      const admit = (): void => {
        signal?.removeEventListener('abort', giveUp);
        resolve();
      };
      const own = { tenantId, admit };
      signal?.addEventListener('abort', giveUp, { once: true });
      this.waiting.push(own);
      this.admitNext();
    });
    return () => {
      this.inside.delete(tenantId);
      this.admitNext();
    };
  }

  private admitNext(): void {
    while (this.inside.size < this.places) {
      const next = this.next();
      if (next === undefined) return;
      this.waiting = this.waiting.filter((one) => one !== next);
      this.inside.add(next.tenantId);
      this.remember(next.tenantId);
      next.admit();
    }
  }

  private next(): Waiter | undefined {
    let first: Waiter | undefined;
    for (const one of this.waiting) {
      if (this.inside.has(one.tenantId)) continue;
      if (first === undefined || this.turnOf(one) < this.turnOf(first)) first = one;
    }
    return first;
  }

  private turnOf({ tenantId }: Waiter): number {
    return this.turns.get(tenantId) ?? 0;
  }

  private remember(tenantId: string): void {
    this.turns.delete(tenantId);
    this.turns.set(tenantId, (this.lastTurn += 1));
    const [oldest] = this.turns.keys();
    if (this.turns.size > MAX_REMEMBERED && oldest !== undefined) this.turns.delete(oldest);
  }
}

/** Values of nice(1): where processes share a machine, the API comes first. */
const PRIORITIES = { worker: 5, file: 10 } as const;

/** Applies to the calling thread and to threads that it creates later. */
export function lowerPriority(as: keyof typeof PRIORITIES): void {
  // Outside Linux this would change the whole process.
  if (process.platform === 'linux') setPriority(PRIORITIES[as]);
}
