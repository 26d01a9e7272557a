import { setMaxListeners } from 'node:events';

/** A thing that the sweeper does again and again. */
export interface Sweep {
  readonly name: string;
  /** From the end of one round to the begin of the next. */
  readonly everyMs: number;
  /** One round. Answers true when more is left, and the next round begins at once. Stops early when `signal` says so. */
  readonly run: (signal: AbortSignal) => Promise<boolean>;
}

export interface SweeperObserver {
  /** A round failed; the next one comes a little later. */
  failed(name: string, fault: unknown): void;
  swept(name: string, seconds: number): void;
}

const MAX_PAUSE_MS = 10_000;

/**
 * The worker's loops: each finds in MySQL what was left undone, whatever the reason, and does it. They run whether Temporal
 * is there or not, in any number of worker processes.
 */
export class Sweeper {
  private readonly stopping = new AbortController();
  private loops: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly sweeps: readonly Sweep[],
    private readonly observer: SweeperObserver,
  ) {
    // Each loop waits with a listener of its own, however many there are: that is no leak.
    setMaxListeners(0, this.stopping.signal);
  }

  start(): void {
    this.loops = Promise.all(this.sweeps.map((sweep) => this.loop(sweep)));
  }

  /** Resolves when every loop has ended its round. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.loops;
  }

  private async loop({ name, everyMs, run }: Sweep): Promise<void> {
    const { signal } = this.stopping;
    let failures = 0;
    while (!signal.aborted) {
      const began = performance.now();
      let isMore = false;
      try {
        isMore = await run(signal);
        failures = 0;
        this.observer.swept(name, (performance.now() - began) / 1000);
      } catch (fault) {
        failures += 1;
        this.observer.failed(name, fault);
      }
      if (!isMore) await pause(Math.min(MAX_PAUSE_MS, everyMs * (1 + failures)), signal);
    }
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end);
  });
}
