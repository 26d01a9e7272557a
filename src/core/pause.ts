/** Pauses, one at a time, that can be cut short. */
export class Pause {
  private isClosed = false;
  private cut: () => void = () => undefined;

  /** Resolves after `ms`, or when `end` is called. */
  for(ms: number, keepsAlive = true): Promise<void> {
    if (this.isClosed) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      if (!keepsAlive) timer.unref();
      this.cut = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Ends the current pause, if any. */
  end(): void {
    this.cut();
  }

  /** Ends the current pause, and every later pause at once. */
  close(): void {
    this.isClosed = true;
    this.cut();
  }
}
