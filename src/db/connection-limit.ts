import type { Uuid } from '../core/ids.js';
import type { Deadline } from './deadline.js';
import { DatabaseUnavailable } from './failures.js';

/** Tenant on whose behalf a transaction runs; null for none or several. */
export type Beneficiary = Uuid | null;

interface Waiting {
  readonly of: Beneficiary;
  readonly admit: () => void;
}

/** First-in, first-out semaphore of which one tenant holds at most half. */
export class ConnectionLimit {
  private taken = 0;
  private readonly takenOf = new Map<Beneficiary, number>();
  private readonly queue = new Set<Waiting>();

  constructor(private readonly most: number) {}

  /** Takes a place, returned by `leave`. Throws DatabaseUnavailable after the deadline. */
  enter(of: Beneficiary, deadline: Deadline): Promise<void> {
    if (this.hasRoomFor(of)) {
      this.take(of);
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const admit = (): void => {
        clearTimeout(timer);
        resolve();
      };
      const waiting = { of, admit };
      const giveUp = (): void => {
        this.queue.delete(waiting);
        reject(new DatabaseUnavailable('no connection to MySQL became free in time'));
      };
      const timer = setTimeout(giveUp, deadline.leftMs());
      this.queue.add(waiting);
    });
  }

  leave(of: Beneficiary): void {
    this.taken -= 1;
    const left = (this.takenOf.get(of) ?? 1) - 1;
    if (left === 0) this.takenOf.delete(of);
    else this.takenOf.set(of, left);
    for (const waiting of this.queue)
      if (this.hasRoomFor(waiting.of)) {
        this.queue.delete(waiting);
        this.take(waiting.of);
        waiting.admit();
        return;
      }
  }

  private hasRoomFor(of: Beneficiary): boolean {
    return (
      this.taken < this.most &&
      (of === null || (this.takenOf.get(of) ?? 0) < Math.ceil(this.most / 2))
    );
  }

  private take(of: Beneficiary): void {
    this.taken += 1;
    this.takenOf.set(of, (this.takenOf.get(of) ?? 0) + 1);
  }
}
