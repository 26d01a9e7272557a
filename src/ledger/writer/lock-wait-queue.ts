import type { Uuid } from '../../core/ids.js';
import type { Database } from '../../db/database.js';
import { isUnavailable } from '../../db/failures.js';
import { UNKNOWN } from '../idempotency.js';
import { lockedElsewhere } from './locked-rows.js';
import type { NamedAccounts, PendingCommand } from './pending-command.js';

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

/** Commands that waited too long for a lock, each posted as soon as its own accounts are free. */
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

  add(group: readonly PendingCommand[], named: NamedAccounts): void {
    for (const pending of group)
      this.waits.push({ pending, accounts: named.ids.get(pending) ?? [] });
    if (!this.isRunning) void this.run();
  }

  private async run(): Promise<void> {
    this.isRunning = true;
    for (;;) {
      this.waits = this.waits.filter(({ pending }) => !pending.answered);
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
    this.locked = ids.length === 0 ? new Set() : await lockedElsewhere(this.database, ids);
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
    for (const { pending } of this.waits.splice(0)) pending.answer(UNKNOWN);
    return [];
  }
}
