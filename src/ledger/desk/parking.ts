import type { Uuid } from '../../core/ids.js';
import type { Database } from '../../db/database.js';
import { isUnavailable } from '../../db/failures.js';
import { BusyAccounts } from './busy-accounts.js';
import { UNKNOWN } from '../idempotency.js';
import { lockedByOthers } from './loading.js';
import type { NamedAccounts, PendingCommand } from './pending-commands.js';

export interface Parkable extends PendingCommand {
  readonly answered: boolean;
  /** Set aside, because an account that it touches is locked by somebody else. */
  parked: boolean;
}

interface Place<T> {
  readonly pending: T;
  readonly accounts: readonly Uuid[];
}

/** What becomes of commands that waited here. */
interface ParkedWork<T> {
  /** Tries these alongside the groups in flight: their accounts are free by now. Never rejects. */
  readonly run: (group: readonly T[]) => Promise<void>;
  /** Nobody can tell which accounts are locked, through our own fault. */
  readonly onFault: (fault: unknown) => void;
  readonly idle: () => void;
}

const PAUSE_MS = 50;

/** Where commands wait for accounts that somebody else keeps locked: each only for its own, until its time is up. */
export class Parking<T extends Parkable> {
  private readonly busy = new BusyAccounts();
  private places: Place<T>[] = [];
  private isRunning = false;

  /** `most`: how many are tried together. */
  constructor(
    private readonly database: Database,
    private readonly most: number,
    private readonly work: ParkedWork<T>,
  ) {}

  /** Nothing waits here, and nothing that did is being tried. */
  get isIdle(): boolean {
    return !this.isRunning;
  }

  /** Finds which of these accounts are locked. Throws what a transaction throws. */
  async look(ids: readonly Uuid[]): Promise<void> {
    this.busy.mark(await lockedByOthers(this.database, ids));
  }

  /** Those commands that touch an account known to be locked. */
  busyOf(group: readonly T[], named: NamedAccounts): readonly T[] {
    return group.filter((pending) => this.busy.includesAny(named.ids.get(pending) ?? []));
  }

  park(group: readonly T[], named: NamedAccounts): void {
    for (const pending of group) {
      pending.parked = true;
      this.places.push({ pending, accounts: named.ids.get(pending) ?? [] });
    }
    if (this.places.length > 0 && !this.isRunning) void this.tryAll();
  }

  private async tryAll(): Promise<void> {
    this.isRunning = true;
    while (this.places.length > 0) {
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      const group = await this.takeFree().catch((fault: unknown) => this.giveUp(fault));
      if (group.length > 0) await this.work.run(group);
    }
    this.isRunning = false;
    this.work.idle();
  }

  /** MySQL may be back before their time is up. */
  private giveUp(fault: unknown): readonly T[] {
    if (isUnavailable(fault)) return [];
    this.work.onFault(fault);
    for (const { pending } of this.places.splice(0)) pending.answer(UNKNOWN);
    return [];
  }

  /** Takes commands whose accounts are all free by now, without waiting. Throws what a transaction throws. */
  private async takeFree(): Promise<readonly T[]> {
    this.places = this.places.filter(({ pending }) => !pending.answered);
    const ids = [...new Set(this.places.flatMap(({ accounts }) => accounts))];
    if (ids.length === 0) return [];
    const locked = await lockedByOthers(this.database, ids);
    this.busy.mark(locked);
    this.busy.clear(ids.filter((id) => !locked.has(id)));
    const free = this.places
      .filter(({ accounts }) => !accounts.some((id) => locked.has(id)))
      .slice(0, this.most);
    const taken = new Set(free);
    this.places = this.places.filter((place) => !taken.has(place));
    return free.map(({ pending }) => {
      pending.parked = false;
      return pending;
    });
  }
}
