import { DatabaseUnavailable } from '../db/failures.js';

/**
 * What one request may wait for the ledger in all. Each statement has a limit of its own, but a request may need several,
 * and their sum would be more than what its client was promised. What is given up may go on, and even commit: the client
 * is told that the result is unknown.
 */
export class LedgerTime {
  private leftMs: number;

  constructor(limitMs: number) {
    this.leftMs = limitMs;
  }

  /** Throws DatabaseUnavailable when the time is over, else what `work` throws. */
  async spend<T>(work: Promise<T>): Promise<T> {
    const began = performance.now();
    let timer: NodeJS.Timeout | undefined;
    const over = new Promise<never>((_, reject) => {
      const giveUp = (): void => reject(new DatabaseUnavailable('the time of the request was over'));
      timer = setTimeout(giveUp, Math.max(0, this.leftMs));
    });
    try {
      return await Promise.race([work, over]);
    } finally {
      clearTimeout(timer);
      this.leftMs -= performance.now() - began;
    }
  }
}
