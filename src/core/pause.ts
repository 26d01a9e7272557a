/** Pauses, one at a time, that can be cut short. */
export class Pause {
  private isClosed = false;
  private cut: () => void = () => undefined;

  /** Until the time is up or somebody ends it. */
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

  /** Nothing if there is none. */
  end(): void {
    this.cut();
  }

  /** Ends this one, and all later ones at once. */
  close(): void {
    this.isClosed = true;
    this.cut();
  }
}
