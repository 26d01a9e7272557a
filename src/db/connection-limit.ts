import type { Uuid } from '../core/ids.js';
import type { Deadline } from '../core/timers.js';
import { DatabaseUnavailable } from './failures.js';

/** Tenant whose share of the connections a statement or transaction uses. Null if it belongs to no single tenant. */
export type LimitedTenant = Uuid | null;
/** `postings` has no limit, because all other transactions leave connections free for them. */
export type ConnectionShare = LimitedTenant | 'postings';

interface Waiter {
  readonly tenant: LimitedTenant;
  readonly admit: () => void;
}

/** First-in, first-out semaphore of which one tenant holds at most `perTenant` permits, by default half. */
export class ConnectionLimit {
  private taken = 0;
  private readonly takenByTenant = new Map<LimitedTenant, number>();
  private readonly queue = new Set<Waiter>();

  constructor(
    private readonly limit: number,
    private readonly perTenant = Math.ceil(limit / 2),
  ) {}

  /** Acquires a permit, which `release` returns. Throws DatabaseUnavailable after the deadline. */
  acquire(tenant: LimitedTenant, deadline: Deadline): Promise<void> {
    if (this.hasRoomFor(tenant)) {
      this.take(tenant);
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const admit = (): void => {
        clearTimeout(timer);
        resolve();
      };
      const waiter = { tenant, admit };
      const giveUp = (): void => {
        this.queue.delete(waiter);
        reject(new DatabaseUnavailable('no connection to MySQL became free in time'));
      };
      const timer = setTimeout(giveUp, deadline.leftMs());
      this.queue.add(waiter);
    });
  }

  release(tenant: LimitedTenant): void {
    this.taken -= 1;
    const left = (this.takenByTenant.get(tenant) ?? 1) - 1;
    if (left === 0) this.takenByTenant.delete(tenant);
    else this.takenByTenant.set(tenant, left);
    for (const waiter of this.queue)
      if (this.hasRoomFor(waiter.tenant)) {
        this.queue.delete(waiter);
        this.take(waiter.tenant);
        waiter.admit();
        return;
      }
  }

  private hasRoomFor(tenant: LimitedTenant): boolean {
    return (
      this.taken < this.limit &&
      (tenant === null || (this.takenByTenant.get(tenant) ?? 0) < this.perTenant)
    );
  }

  private take(tenant: LimitedTenant): void {
    this.taken += 1;
    this.takenByTenant.set(tenant, (this.takenByTenant.get(tenant) ?? 0) + 1);
  }
}
