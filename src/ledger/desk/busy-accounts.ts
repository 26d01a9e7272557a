import type { Uuid } from '../../core/ids.js';

/** How long an account is considered busy after it was last found so. */
const BUSY_MS = 2_000;

/**
 * Accounts whose row has been locked for longer than a posting may wait (by an administrator's session, a frozen
 * process). Commands that touch them wait separately, so that they delay nobody else.
 */
export class BusyAccounts {
  private readonly until = new Map<Uuid, number>();

  mark(ids: Iterable<Uuid>): void {
    for (const id of ids) this.until.set(id, performance.now() + BUSY_MS);
  }

  clear(ids: Iterable<Uuid>): void {
    for (const id of ids) this.until.delete(id);
  }

  includesAny(ids: readonly Uuid[]): boolean {
    if (this.until.size === 0) return false;
    const now = performance.now();
    for (const [id, until] of this.until) if (until <= now) this.until.delete(id);
    return ids.some((id) => this.until.has(id));
  }
}
