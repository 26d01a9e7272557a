import { untraced } from '../../core/trace.js';
import type { GroupAccounts, PendingCommand } from './pending-command.js';
import type { Uuid } from '../../core/ids.js';
import type { Database } from '../../db/database.js';
import { isUnavailable } from '../../db/failures.js';
import { RESULT_UNKNOWN } from '../idempotency.js';
import { findLockedElsewhere } from './locked-rows.js';

export interface SchedulerOptions {
  /** Commands per group. Commands submitted together may exceed it. */
  readonly maxGroup: number;
  readonly groupsInFlight: number;
  /** Limit of the time for which a group that waits for locks delays the next group. */
  readonly maxGatherMs: number;
}

interface SchedulerObserver {
  readonly groupTaken: (queued: number) => void;
  readonly idle: () => void;
}

/**
 * Runs queued commands in groups. Commands gather until the latest group commits, because fewer and
 * larger groups cost less, while a commit overlaps with the next group's locks and reads.
 */
export class GroupScheduler {
  private readonly queue: PendingCommand[] = [];
  private inFlight = 0;
  /** The latest group, until it commits. */
  private latest: readonly PendingCommand[] | null = null;
  private isStartPlanned = false;

  constructor(
    private readonly options: SchedulerOptions,
    /** Calls `onCommitting` when it has sent COMMIT. */
    private readonly run: (
      group: readonly PendingCommand[],
      onCommitting: () => void,
    ) => Promise<void>,
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
    if (this.isStartPlanned) return;
    this.isStartPlanned = true;
    // A group belongs to no single request's trace.
    untraced(() =>
      setImmediate(() => {
        this.isStartPlanned = false;
        this.startGroups();
      }),
    );
  }

  private startGroups(): void {
    if (this.latest !== null) return;
    while (this.inFlight < this.options.groupsInFlight && this.queue.length > 0) {
      const group = this.takeGroup();
      this.observer.groupTaken(this.queue.length);
      if (group.length > 0) return this.startGroup(group);
    }
    if (this.isIdle) this.observer.idle();
  }

  private startGroup(group: readonly PendingCommand[]): void {
    this.inFlight += 1;
    this.latest = group;
    const stopGathering = (): void => {
      clearTimeout(timer);
      if (this.latest === group) this.latest = null;
      this.startGroups();
    };
    const timer = setTimeout(stopGathering, this.options.maxGatherMs);
    void this.run(group, stopGathering).finally(() => {
      this.inFlight -= 1;
      stopGathering();
    });
  }

  /** Keeps commands that were submitted together in one group, and drops answered ones. */
  private takeGroup(): readonly PendingCommand[] {
    const group = this.queue.splice(0, this.options.maxGroup);
    const last = group.at(-1)?.submission;
    const next = this.queue.findIndex(({ submission }) => submission !== last);
    group.push(...this.queue.splice(0, next < 0 ? this.queue.length : next));
    return group.filter(({ isAnswered }) => !isAnswered);
  }
}

interface LockWaitQueueOptions {
  readonly maxGroup: number;
  /** Posts commands whose accounts are free. Never rejects. */
  readonly post: (group: readonly PendingCommand[]) => Promise<void>;
  readonly onFault: (fault: unknown) => void;
  readonly onIdle: () => void;
}

interface LockWait {
  readonly pending: PendingCommand;
  readonly accounts: readonly Uuid[];
}

const PROBE_EVERY_MS = 50;

/** Holds commands that waited too long for a lock, until their own accounts are free. */
export class LockWaitQueue {
  private waits: LockWait[] = [];
  private locked: ReadonlySet<Uuid> = new Set();
  private isRunning = false;

  constructor(
    private readonly database: Database,
    private readonly options: LockWaitQueueOptions,
  ) {}

  get isIdle(): boolean {
    return !this.isRunning;
  }

  /** Whether one of the accounts was locked by another session at the last probe. */
  isBlocked(accounts: readonly Uuid[]): boolean {
    return this.locked.size > 0 && accounts.some((id) => this.locked.has(id));
  }

  add(group: readonly PendingCommand[], groupAccounts: GroupAccounts): void {
    for (const pending of group)
      this.waits.push({ pending, accounts: groupAccounts.ids.get(pending) ?? [] });
    if (!this.isRunning) void this.run();
  }

  private async run(): Promise<void> {
    this.isRunning = true;
    for (;;) {
      this.waits = this.waits.filter(({ pending }) => !pending.isAnswered);
      if (this.waits.length === 0) break;
      const group = await this.takeFree().catch((fault: unknown) => this.giveUp(fault));
      if (group.length > 0) await this.options.post(group);
      else await new Promise((resolve) => setTimeout(resolve, PROBE_EVERY_MS));
    }
    this.locked = new Set();
    this.isRunning = false;
    this.options.onIdle();
  }

  /** Takes commands whose accounts are all free, without waiting for locks. */
  private async takeFree(): Promise<readonly PendingCommand[]> {
    const ids = [...new Set(this.waits.flatMap(({ accounts }) => accounts))];
    this.locked = ids.length === 0 ? new Set() : await findLockedElsewhere(this.database, ids);
    const free = this.waits
      .filter(({ accounts }) => !this.isBlocked(accounts))
      .slice(0, this.options.maxGroup);
    const taken = new Set(free);
    this.waits = this.waits.filter((wait) => !taken.has(wait));
    return free.map(({ pending }) => pending);
  }

  /** Keeps the commands while MySQL is unavailable; otherwise answers all of them. */
  private giveUp(fault: unknown): readonly PendingCommand[] {
    if (isUnavailable(fault)) return [];
    this.options.onFault(fault);
    for (const { pending } of this.waits.splice(0)) pending.answer(RESULT_UNKNOWN);
    return [];
  }
}
