import type { Uuid } from '../../core/ids.js';

/** Lets groups that share an account go one after the other, in the order in which they came. */
export class AccountTurns {
  private readonly last = new Map<Uuid, Promise<void>>();

  /** Does the work when all before it that share one of these accounts have ended, however they did. */
  async take(accounts: Iterable<Uuid>, work: () => Promise<void>): Promise<void> {
    const ids = new Set(accounts);
    const before = new Set(Array.from(ids).flatMap((id) => this.last.get(id) ?? []));
    const working = Promise.all(before).then(work);
    const ended = working.catch(() => undefined);
    for (const id of ids) this.last.set(id, ended);
    try {
      await working;
    } finally {
      for (const id of ids) if (this.last.get(id) === ended) this.last.delete(id);
    }
  }
}
