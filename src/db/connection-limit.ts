import type { Uuid } from '../core/ids.js';
import type { Deadline } from './deadline.js';
import { DatabaseUnavailable } from './failures.js';

/** Tenant on whose behalf a transaction runs; null for none or several. */
export type Beneficiary = Uuid | null;

interface Waiter {
  readonly beneficiary: Beneficiary;
  readonly admit: () => void;
}

/** First-in, first-out semaphore of which one tenant holds at most half. */
export class ConnectionLimit {
  private taken = 0;
  private readonly takenBy = new Map<Beneficiary, number>();
  private readonly queue = new Set<Waiter>();

  constructor(private readonly limit: number) {}

  /** Takes a place, returned by `leave`. Throws DatabaseUnavailable after the deadline. */
  enter(beneficiary: Beneficiary, deadline: Deadline): Promise<void> {
    if (this.hasRoomFor(beneficiary)) {
      this.take(beneficiary);
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const admit = (): void => {
        clearTimeout(timer);
        resolve();
      };
      const waiter = { beneficiary, admit };
      const giveUp = (): void => {
        this.queue.delete(waiter);
        reject(new DatabaseUnavailable('no connection to MySQL became free in time'));
      };
      const timer = setTimeout(giveUp, deadline.leftMs());
      this.queue.add(waiter);
    });
  }

  leave(beneficiary: Beneficiary): void {
    this.taken -= 1;
    const left = (this.takenBy.get(beneficiary) ?? 1) - 1;
    if (left === 0) this.takenBy.delete(beneficiary);
    else this.takenBy.set(beneficiary, left);
    for (const waiter of this.queue)
      if (this.hasRoomFor(waiter.beneficiary)) {
        this.queue.delete(waiter);
        this.take(waiter.beneficiary);
        waiter.admit();
        return;
      }
  }

  private hasRoomFor(beneficiary: Beneficiary): boolean {
    return (
      this.taken < this.limit &&
      (beneficiary === null || (this.takenBy.get(beneficiary) ?? 0) < Math.ceil(this.limit / 2))
    );
  }

  private take(beneficiary: Beneficiary): void {
    this.taken += 1;
    this.takenBy.set(beneficiary, (this.takenBy.get(beneficiary) ?? 0) + 1);
  }
}
