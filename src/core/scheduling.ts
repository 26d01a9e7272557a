import { setPriority } from 'node:os';

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
  /** The number of the last turn of each tenant. */
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

/** Nice values. The API runs at 0, so it comes first where processes share a machine. */
const PRIORITIES = { worker: 5, file: 10 } as const;

/** Applies to the calling thread and to threads that it creates later. */
export function lowerPriority(as: keyof typeof PRIORITIES): void {
  // Outside Linux this would change the whole process.
  if (process.platform === 'linux') setPriority(PRIORITIES[as]);
}
