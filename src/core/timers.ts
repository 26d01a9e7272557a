/** A pause that can be ended early, for example to stop a loop. */
export class Pause {
  private isClosed = false;
  private endCurrent: () => void = () => undefined;

  /** Resolves after `ms`, or when `end` is called. */
  for(ms: number, { keepsAlive = true }: { readonly keepsAlive?: boolean } = {}): Promise<void> {
    if (this.isClosed) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      if (!keepsAlive) timer.unref();
      this.endCurrent = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Ends the current pause. */
  end(): void {
    this.endCurrent();
  }

  /** Ends the current pause and all later ones at once. */
  close(): void {
    this.isClosed = true;
    this.endCurrent();
  }
}

/**
 * Returns the result of `work`, or `late` if it takes longer than `ms`. The work itself continues.
 * Data that arrived while this process was busy still counts: after the timer, an immediate lets
 * the sockets be read first.
 */
export async function withTimeout<T, L>(
  ms: number,
  work: () => Promise<T>,
  late: L,
): Promise<T | L> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<L>((resolve) => {
    timer = setTimeout(() => setImmediate(resolve, late), ms);
  });
  try {
    return await Promise.race([work(), over]);
  } finally {
    clearTimeout(timer);
  }
}

/** A moment on the monotonic clock. */
export class Deadline {
  private constructor(private readonly endsAt: number) {}

  static afterMs(ms: number): Deadline {
    return new Deadline(performance.now() + ms);
  }

  static latestOf(deadlines: readonly [Deadline, ...Deadline[]]): Deadline {
    return new Deadline(Math.max(...deadlines.map((deadline) => deadline.endsAt)));
  }

  leftMs(): number {
    return Math.max(0, Math.ceil(this.endsAt - performance.now()));
  }

  passed(): boolean {
    return performance.now() >= this.endsAt;
  }
}
