import { untraced } from '../../core/trace.js';
import type { Pace } from './pace.js';
import { CommandQueue } from './queue.js';
import type { Waiting } from './waiting.js';

export interface PumpOptions {
  /** The most commands that share a transaction. */
  readonly maxGroup: number;
  readonly groupsInFlight: number;
}

export interface PumpWatcher {
  /** A group was taken, and so many commands still wait. */
  readonly taken: (waiting: number) => void;
  readonly idle: () => void;
}

/** Takes what waits as groups: so many at a time, and when the pace says so. */
export class Pump {
  private readonly queue = new CommandQueue();
  private inFlight = 0;
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
    const { maxGroup, groupsInFlight } = this.options;
    while (this.inFlight < (this.pace.isShared ? 1 : groupsInFlight) && this.queue.length > 0) {
      const gatheringMs = this.queue.length < maxGroup ? this.pace.gatheringMs() : 0;
      if (gatheringMs > 0) return this.plan((work) => setTimeout(work, gatheringMs));
      const group = this.queue.takeGroup(maxGroup);
      this.watcher.taken(this.queue.length);
      if (group.length === 0) continue;
      this.inFlight += 1;
      void this.run(group).finally(() => {
        this.inFlight -= 1;
        this.take();
      });
    }
    if (this.isIdle) this.watcher.idle();
  }
}
