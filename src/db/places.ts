import type { Deadline } from './deadline.js';
import { DatabaseUnavailable } from './failures.js';

/** So many at a time, in the order in which they came. */
export class Places {
  private taken = 0;
  private readonly queue = new Set<() => void>();

  constructor(private readonly most: number) {}

  get waiting(): number {
    return this.queue.size;
  }

  /** Whoever is in must `leave`. Throws DatabaseUnavailable. */
  enter(deadline: Deadline): Promise<void> {
    if (this.taken < this.most) {
      this.taken += 1;
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const admit = (): void => {
        clearTimeout(timer);
        resolve();
      };
      const giveUp = (): void => {
        this.queue.delete(admit);
        reject(new DatabaseUnavailable('no connection to MySQL became free in time'));
      };
      const timer = setTimeout(giveUp, deadline.leftMs());
      this.queue.add(admit);
    });
  }

  leave(): void {
    const [next] = this.queue;
    if (next === undefined) {
      this.taken -= 1;
      return;
    }
    this.queue.delete(next);
    next();
  }
}
