import { SETTLED_AFTER_MS } from '../../ledger/clock-guard.js';
import type { Uuid } from '../../core/ids.js';
import { type Instant, instant } from '../../core/instant.js';
import type { Reader } from '../../db/database.js';
import { tenantsWithEvents } from './finding.js';

/** An event is mostly to be seen so long after its time. */
const MARGIN_MS = 1_000;
/** How often it looks back to where certainly nothing more comes. */
const WIDE_EVERY_MS = 1_000;

/** Which tenants' logs have grown: by the times of their last events, and so without asking those that sleep. */
export class News {
  /** The last events that were seen, of tenants with events of late. */
  private seen = new Map<Uuid, bigint>();
  private readonly tenants = new Set<Uuid>();
  private lookedAt: Instant | null = null;
  private lookedWidelyAt = Number.NEGATIVE_INFINITY;

  /** Looks again. Answers the tenants whose endpoints have to be looked at. */
  async look(reader: Reader, now: Instant): Promise<readonly Uuid[]> {
    const isWide = this.lookedAt === null || performance.now() - this.lookedWidelyAt >= WIDE_EVERY_MS;
    const since = instant((this.lookedAt ?? now) - (isWide ? SETTLED_AFTER_MS : MARGIN_MS));
    const began = performance.now();
    const found = await tenantsWithEvents(reader, since);
    for (const [tenantId, last] of found) if (this.seen.get(tenantId) !== last) this.tenants.add(tenantId);
    if (isWide) {
      this.lookedWidelyAt = began;
      this.seen = new Map(found);
    } else for (const [tenantId, last] of found) this.seen.set(tenantId, last);
    this.lookedAt = now;
    return [...this.tenants];
  }

  /** Something of this tenant may have been left. */
  lookAgain(tenantId: Uuid): void {
    this.tenants.add(tenantId);
  }

  /** All of this tenant that there was to do is in somebody's hands. */
  done(tenantId: Uuid): void {
    this.tenants.delete(tenantId);
  }

  /** Whether its log has grown beyond that, as far as was seen. */
  isBeyond(tenantId: Uuid, head: bigint): boolean {
    return (this.seen.get(tenantId) ?? 0n) > head;
  }
}
