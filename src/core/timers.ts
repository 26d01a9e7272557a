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

/** Thrown when work ends because its deadline has passed. */
export class DeadlinePassed extends Error {
  override name = 'DeadlinePassed';

  constructor() {
    super('the time of the request was over');
  }
}

/** A moment on the monotonic clock, after which nothing begins. */
export class Deadline {
  private controller: AbortController | undefined;

  private constructor(private readonly endsAt: number) {}

  static afterMs(ms: number): Deadline {
    return new Deadline(performance.now() + ms);
  }

  static earliestOf(deadlines: readonly Deadline[]): Deadline {
    return new Deadline(Math.min(...deadlines.map((deadline) => deadline.endsAt)));
  }

  plus(ms: number): Deadline {
    return new Deadline(this.endsAt + ms);
  }

  /** Aborted with `DeadlinePassed`. Made on first use, because most requests need no signal. */
  get signal(): AbortSignal {
    if (this.controller === undefined) {
      const controller = new AbortController();
      setTimeout(() => controller.abort(new DeadlinePassed()), this.leftMs()).unref();
      this.controller = controller;
    }
    return this.controller.signal;
  }

  leftMs(): number {
    return Math.max(0, Math.ceil(this.endsAt - performance.now()));
  }

  passed(): boolean {
    return performance.now() >= this.endsAt;
  }
}
