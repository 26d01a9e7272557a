import { untraced } from '../../core/trace.js';
import type { PendingCommand } from './pending-command.js';

export interface SchedulerOptions {
  /** Commands submitted together may exceed it. */
  readonly maxGroup: number;
  readonly groupsInFlight: number;
}

interface SchedulerObserver {
  readonly taken: (queued: number) => void;
  readonly idle: () => void;
}

/** Runs queued commands in groups. Those that arrive while all groups are busy share the next. */
export class GroupScheduler {
  private readonly queue: PendingCommand[] = [];
  private inFlight = 0;
  private isPlanned = false;

  constructor(
    private readonly options: SchedulerOptions,
    private readonly run: (group: readonly PendingCommand[]) => Promise<void>,
    private readonly observer: SchedulerObserver,
  ) {}

  get queued(): number {
    return this.queue.length;
  }

  get isIdle(): boolean {
    return this.queue.length === 0 && this.inFlight === 0;
  }

  /** Queues a command. All requests that are read in this turn of the event loop share a group. */
  add(command: PendingCommand): void {
    this.queue.push(command);
    if (this.isPlanned) return;
    this.isPlanned = true;
    // A group belongs to no single request's trace.
    untraced(() =>
      setImmediate(() => {
        this.isPlanned = false;
        this.take();
      }),
    );
  }

  private take(): void {
    while (this.inFlight < this.options.groupsInFlight && this.queue.length > 0) {
      const group = this.takeGroup();
      this.observer.taken(this.queue.length);
      if (group.length > 0) this.begin(group);
    }
    if (this.isIdle) this.observer.idle();
  }

  private begin(group: readonly PendingCommand[]): void {
    this.inFlight += 1;
    void this.run(group).finally(() => {
      this.inFlight -= 1;
      this.take();
    });
  }

  /** Keeps commands that were submitted together in one group, and drops answered ones. */
  private takeGroup(): readonly PendingCommand[] {
    const group = this.queue.splice(0, this.options.maxGroup);
    const last = group.at(-1)?.submission;
    const rest = this.queue.findIndex(({ submission }) => submission !== last);
    group.push(...this.queue.splice(0, rest < 0 ? this.queue.length : rest));
    return group.filter(({ answered }) => !answered);
  }
}
