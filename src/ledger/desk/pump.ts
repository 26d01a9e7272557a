import { untraced } from '../../core/trace.js';
import type { Pace } from './pace.js';
import { CommandQueue } from './queue.js';
import type { Waiting } from './waiting.js';

export interface PumpOptions {
  readonly maxGroup: number;
  readonly groupsInFlight: number;
}

export interface PumpWatcher {
  /** A group was taken, and so many commands still wait. */
  readonly taken: (waiting: number) => void;
  readonly idle: () => void;
}

/** Longer than a wait for a lock may be: such a group waits for a server that does not answer, and in nobody's way. */
const SLOW_MS = 1_500;

/** Takes what waits as groups: so many at a time, and when the pace says so. */
export class Pump {
  private readonly queue = new CommandQueue();
  private inFlight = 0;
  private slow = 0;
  private isPlanned = false;

  constructor(
    private readonly options: PumpOptions,
    private readonly pace: Pace,
    private readonly run: (group: readonly Waiting[]) => Promise<void>,
    private readonly watcher: PumpWatcher,
  ) {}

  get waiting(): number {
    return this.queue.length;
  }

  get isIdle(): boolean {
    return this.queue.length === 0 && this.inFlight === 0;
  }

  /** It is taken after the requests of this turn of the event loop have been read, so that they share a group. */
  add(command: Waiting): void {
    this.queue.add(command);
    this.plan(setImmediate);
  }

  private plan(later: (work: () => void) => void): void {
    if (this.isPlanned) return;
    this.isPlanned = true;
    // The group is nobody's alone: what it does belongs to no request's trace.
    untraced(() =>
      later(() => {
        this.isPlanned = false;
        this.take();
      }),
    );
  }

  private take(): void {
    const { maxGroup } = this.options;
    while (this.hasRoom() && this.queue.length > 0) {
      const gatheringMs = this.queue.length < maxGroup ? this.pace.gatheringMs() : 0;
      if (gatheringMs > 0) return this.plan((work) => setTimeout(work, gatheringMs));
      const group = this.queue.takeGroup(maxGroup);
      this.watcher.taken(this.queue.length);
      if (group.length > 0) this.begin(group);
    }
    if (this.isIdle) this.watcher.idle();
  }

  /** A group whose commit is unknown keeps its place until its time is up; the others continue without it. */
  private hasRoom(): boolean {
    const { groupsInFlight } = this.options;
    return this.inFlight < groupsInFlight && (!this.pace.isShared || this.inFlight === this.slow);
  }

  private begin(group: readonly Waiting[]): void {
    let isSlow = false;
    this.inFlight += 1;
    const timer = setTimeout(() => {
      isSlow = true;
      this.slow += 1;
      this.take();
    }, SLOW_MS);
    void this.run(group).finally(() => {
      clearTimeout(timer);
      this.inFlight -= 1;
      if (isSlow) this.slow -= 1;
      this.take();
    });
  }
}
