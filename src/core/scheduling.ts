import { setPriority } from 'node:os';

const EVERY_MS = 1;

/** Starts at most `perMs` operations a millisecond. Waiting operations start by tenant, in turn. */
export class Throttle {
  private readonly waiting = new Map<string, (() => void)[]>();
  private left: number;
  private timer: NodeJS.Timeout | null = null;

  constructor(private readonly perMs: number) {
    this.left = perMs;
  }

  async waitForTurn(tenantId: string): Promise<void> {
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
    for (this.left = this.perMs; this.left > 0; this.left -= 1) {
      const [first] = this.waiting;
      if (first === undefined) break;
      const [tenantId, [begin, ...others]] = first;
      this.waiting.delete(tenantId);
      if (others.length > 0) this.waiting.set(tenantId, others);
      begin?.();
    }
    if (this.left < this.perMs) this.timer = setTimeout(() => this.refill(), EVERY_MS);
  }
}

interface Waiter {
  readonly tenantId: string;
  readonly admit: () => void;
}

/** Tenants whose last turn is remembered. Any other tenant counts as never having had a turn. */
const MAX_REMEMBERED = 1_000;

/**
 * Serves tenants in turn. A tenant has at most one slot. A free slot is given to the waiting tenant
 * whose last turn is longest ago.
 */
export class FairQueue {
  private readonly served = new Set<string>();
  private waiting: Waiter[] = [];
  /** The number of the last turn of each tenant. */
  private readonly turns = new Map<string, number>();
  private lastTurn = 0;

  constructor(private readonly slots: number) {}

  /** Returns the function that releases the slot. Rejects with the signal's reason. */
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
      this.served.delete(tenantId);
      this.admitNext();
    };
  }

  private admitNext(): void {
    while (this.served.size < this.slots) {
      const next = this.next();
      if (next === undefined) return;
      this.waiting = this.waiting.filter((one) => one !== next);
      this.served.add(next.tenantId);
      this.remember(next.tenantId);
      next.admit();
    }
  }

  private next(): Waiter | undefined {
    let first: Waiter | undefined;
    for (const one of this.waiting) {
      if (this.served.has(one.tenantId)) continue;
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

/** Nice values. The API runs at 0, so it has priority where processes share a machine. */
const PRIORITIES = { worker: 5, file: 10 } as const;

/** Applies to the calling thread and to threads that it creates later. */
export function lowerPriority(kind: keyof typeof PRIORITIES): void {
  // Outside Linux this would change the whole process.
  if (process.platform === 'linux') setPriority(PRIORITIES[kind]);
}
