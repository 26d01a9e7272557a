import { DatabaseUnavailable } from '../db/failures.js';

/**
 * Limits the time that one request waits for the ledger in all. Work that is given up may still
 * commit, so its result is unknown.
 */
export class LedgerTime {
  private leftMs: number;

  constructor(limitMs: number) {
    this.leftMs = limitMs;
  }

  /**
   * Returns the result of `work`. Throws DatabaseUnavailable when the time is used up, otherwise
   * what `work` throws.
   */
  async spend<T>(work: Promise<T>): Promise<T> {
    const began = performance.now();
    let timer: NodeJS.Timeout | undefined;
    const over = new Promise<never>((_, reject) => {
      const giveUp = (): void =>
        reject(new DatabaseUnavailable('the time of the request was over'));
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
