import { SETTLED_AFTER_MS } from '../../ledger/database-clock.js';
import type { Uuid } from '../../core/ids.js';
import { type Instant, instant } from '../../core/instant.js';
import type { Reader } from '../../db/database.js';
import { tenantsWithEvents } from './finding.js';

/** By this long after its time, an event is usually visible. */
const MARGIN_MS = 1_000;
/** How often it looks back far enough that nothing can have been missed. */
const WIDE_EVERY_MS = 1_000;

/** Finds tenants whose logs have grown, by the times of their last events, so that idle ones cost nothing. */
export class News {
  /** The last events seen, for tenants with recent events. */
  private seen = new Map<Uuid, bigint>();
  private readonly tenants = new Set<Uuid>();
  private lookedAt: Instant | null = null;
  private lookedWidelyAt = Number.NEGATIVE_INFINITY;

  /** Looks again. Returns the tenants whose endpoints must be examined. */
  async look(reader: Reader, now: Instant): Promise<readonly Uuid[]> {
    const isWide =
      this.lookedAt === null || performance.now() - this.lookedWidelyAt >= WIDE_EVERY_MS;
    const since = instant((this.lookedAt ?? now) - (isWide ? SETTLED_AFTER_MS : MARGIN_MS));
    const began = performance.now();
    const found = await tenantsWithEvents(reader, since);
    for (const [tenantId, last] of found)
      if (this.seen.get(tenantId) !== last) this.tenants.add(tenantId);
    if (isWide) {
      this.lookedWidelyAt = began;
      this.seen = new Map(found);
    } else for (const [tenantId, last] of found) this.seen.set(tenantId, last);
    this.lookedAt = now;
    return [...this.tenants];
  }

  /** Something may have been left undone for this tenant. */
  lookAgain(tenantId: Uuid): void {
    this.tenants.add(tenantId);
  }

  /** Everything for this tenant is being handled. */
  done(tenantId: Uuid): void {
    this.tenants.delete(tenantId);
  }

  /** Whether its log is known to have grown beyond that. */
  isBeyond(tenantId: Uuid, head: bigint): boolean {
    return (this.seen.get(tenantId) ?? 0n) > head;
  }
}
