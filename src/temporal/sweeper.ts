import type { Uuid } from '../core/ids.js';
import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SweepLeases, Turn } from './sweep-leases.js';

/** Repeated work, done by one worker process at a time unless stated otherwise. */
export interface Sweep {
  readonly name: string;
  /** From the end of one round to the start of the next. */
  readonly everyMs: number;
  /**
   * One round. Returns true if more is left; then the next round begins at once. Stops early on `signal`, when the
   * process stops or another one has the sweep.
   */
  readonly run: (signal: AbortSignal) => Promise<boolean>;
  /** Every process does it for itself, without a lease: what it looks for may have affected the leases. */
  readonly inEach?: true;
}

/** A sweep whose work several processes may share, each doing some parts of it. */
export interface SharedSweep extends Omit<Sweep, 'run' | 'inEach'> {
  readonly shards: number;
  readonly run: (signal: AbortSignal, shards: readonly number[]) => Promise<boolean>;
}

export interface SweeperObserver {
  /** A round failed; the next one follows a little later. */
  failed(name: string, fault: unknown): void;
  swept(name: string, seconds: number): void;
}

/** A failing sweep is retried at least this often, however rare it is otherwise. */
const MAX_FAILED_PAUSE_MS = 10_000;

/** The names of a sweep's leases, by part; none if every process does it. */
export function leaseNames(sweep: Sweep | SharedSweep): string[] {
  if ('shards' in sweep)
    return Array.from({ length: sweep.shards }, (_, shard) => `${sweep.name} ${shard}`);
  return sweep.inEach === true ? [] : [sweep.name];
}

const TIDY_EVERY_MS = 600_000;
const TIDY_PAUSE_MS = 50;

/** Works through everything, one piece after another, with pauses. */
export function tidying(
  name: string,
  work: (after: Uuid | null) => Promise<{ readonly at: Uuid; readonly isDone: boolean } | null>,
): Sweep {
  return {
    name,
    everyMs: TIDY_EVERY_MS,
    run: async (signal) => {
      let after: Uuid | null = null;
      while (!signal.aborted) {
        const piece: Awaited<ReturnType<typeof work>> = await work(after);
        if (piece === null) break;
        if (piece.isDone) after = piece.at;
        await new Promise((resolve) => setTimeout(resolve, TIDY_PAUSE_MS));
      }
      return false;
    },
  };
}

/** The worker's loops, with Temporal or without, in any number of processes: each sweep in one, or in every one. */
export class Sweeper {
  private readonly stopping = new AbortController();
  private loops: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly sweeps: readonly (Sweep | SharedSweep)[],
    private readonly observer: SweeperObserver,
    private readonly leases: SweepLeases,
    /** Awaited before each round. */
    private readonly prepare: () => Promise<void> = () => Promise.resolve(),
  ) {
    // Each loop has its own listener, however many there are; not a leak.
    setMaxListeners(0, this.stopping.signal);
  }

  start(): void {
    this.leases.start();
    this.loops = Promise.all(this.sweeps.map((sweep) => this.loop(sweep)));
  }

  /** Resolves when every loop has ended its round, so that others may begin theirs. */
  async stop(): Promise<void> {
    this.stopping.abort();
    this.leases.interrupt();
    await this.loops;
    await this.leases.stop();
  }

  private async loop(sweep: Sweep | SharedSweep): Promise<void> {
    const { name, everyMs } = sweep;
    const parts = leaseNames(sweep);
    const { signal } = this.stopping;
    let failures = 0;
    for (;;) {
      const turn = parts.length > 0 ? await this.leases.turn(parts) : this.ownTurn();
      if (turn === null) return;
      const began = performance.now();
      let isMore = false;
      try {
        await this.prepare();
        const shards = turn.names.map((part) => parts.indexOf(part));
        isMore =
          'shards' in sweep ? await sweep.run(turn.signal, shards) : await sweep.run(turn.signal);
        failures = 0;
        this.observer.swept(name, (performance.now() - began) / 1000);
      } catch (fault) {
        failures += 1;
        this.observer.failed(name, fault);
      } finally {
        turn.end();
      }
      if (!isMore)
        await sleep(pauseMs(everyMs, failures), undefined, { signal }).catch(() => undefined);
    }
  }

  private ownTurn(): Turn | null {
    const { signal } = this.stopping;
    return signal.aborted ? null : { names: [], signal, end: () => undefined };
  }
}

function pauseMs(everyMs: number, failures: number): number {
  return failures === 0 ? everyMs : Math.min(MAX_FAILED_PAUSE_MS, everyMs * (1 + failures));
}
