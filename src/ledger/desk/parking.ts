import type { Uuid } from '../../core/ids.js';
import type { Database } from '../../db/database.js';
import { BusyAccounts } from './busy-accounts.js';
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

/** Where commands wait for accounts that somebody else keeps locked: each only for its own. */
export class Parking<T extends Parkable> {
  private readonly busy = new BusyAccounts();
  private places: Place<T>[] = [];

  constructor(private readonly database: Database) {}

  get isEmpty(): boolean {
    return this.places.length === 0;
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
  }

  /** At most `most` commands whose accounts are all free, without waiting. Throws what a transaction throws. */
  async takeFree(most: number): Promise<readonly T[]> {
    this.places = this.places.filter(({ pending }) => !pending.answered);
    const ids = [...new Set(this.places.flatMap(({ accounts }) => accounts))];
    if (ids.length === 0) return [];
    const locked = await lockedByOthers(this.database, ids);
    this.busy.mark(locked);
    this.busy.clear(ids.filter((id) => !locked.has(id)));
    const free = this.places.filter(({ accounts }) => !accounts.some((id) => locked.has(id))).slice(0, most);
    const taken = new Set(free);
    this.places = this.places.filter((place) => !taken.has(place));
    return free.map(({ pending }) => {
      pending.parked = false;
      return pending;
    });
  }

  takeAll(): readonly T[] {
    return this.places.splice(0).map(({ pending }) => pending);
  }
}
