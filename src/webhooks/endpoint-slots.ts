import type { Uuid } from '../core/ids.js';
import { ExpiringCache } from '../core/expiring-cache.js';
import { PROMPT_MS } from './rules.js';
import type { EndpointCandidate, FreeSlots } from './work-finder.js';

/** For how many slow endpoints, and for how long, a process remembers that they are slow. */
const MAX_SLOW = 10_000;
const SLOW_FOR_MS = 3_600_000;
/** The most endpoints found in one round. */
const FOUND_AT_ONCE = 512;

export interface Slot {
  /** Moves the endpoint to a slow slot if one is free. */
  becomesSlow(): void;
  leave(): void;
}

/**
 * The endpoints that a process may be sending to. Endpoints that fail, or whose last attempt took
 * `PROMPT_MS` or longer with any result, have a bounded number of slots of their own, which tenants
 * share: the tenant with the fewest is served first.
 */
export class EndpointSlots {
  private fast = 0;
  private slow = 0;
  private readonly slowEndpoints = new ExpiringCache<true>(MAX_SLOW, SLOW_FOR_MS);
  private readonly slowOf = new Map<Uuid, number>();

  /** `each`: slots of each kind. */
  constructor(private readonly each: number) {}

  get taken(): readonly [fast: number, slow: number] {
    return [this.fast, this.slow];
  }

  get slowCount(): number {
    return this.slowEndpoints.size;
  }

  get room(): FreeSlots {
    return {
      well: Math.min(Math.max(0, this.each - this.fast), FOUND_AT_ONCE),
      failing: Math.min(this.each - this.slow, FOUND_AT_ONCE),
    };
  }

  isSlow(endpointId: Uuid): boolean {
    return this.slowEndpoints.get(endpointId, performance.now()) === true;
  }

  /** Notes how long an endpoint's last attempt took. */
  attempted(endpointId: Uuid, durationMs: number): void {
    if (durationMs < PROMPT_MS) this.slowEndpoints.delete(endpointId);
    else this.slowEndpoints.set(endpointId, true, performance.now());
  }

  heldBy(tenantId: Uuid): number {
    return this.slowOf.get(tenantId) ?? 0;
  }

  enter(tenantId: Uuid): Slot {
    this.fast += 1;
    let isSlow = false;
    return {
      becomesSlow: () => {
        if (isSlow || this.slow >= this.each) return;
        isSlow = true;
        this.fast -= 1;
        this.slow += 1;
        this.slowOf.set(tenantId, this.heldBy(tenantId) + 1);
      },
      leave: () => {
        if (!isSlow) {
          this.fast -= 1;
          return;
        }
        this.slow -= 1;
        const left = this.heldBy(tenantId) - 1;
        if (left > 0) this.slowOf.set(tenantId, left);
        else this.slowOf.delete(tenantId);
      },
    };
  }
}

/** The endpoints to claim in one round, as far as there is room for each kind. */
export class SlotChoice {
  private readonly healthy = new Map<Uuid, EndpointCandidate>();
  private readonly slow = new Map<Uuid, EndpointCandidate>();
  private readonly room: FreeSlots;

  constructor(private readonly slots: EndpointSlots) {
    this.room = slots.room;
  }

  /** True if no further healthy endpoint fits. */
  get isFull(): boolean {
    return this.healthy.size >= this.room.well;
  }

  get all(): readonly EndpointCandidate[] {
    return [...this.healthy.values(), ...this.slow.values()];
  }

  has(id: Uuid): boolean {
    return this.healthy.has(id) || this.slow.has(id);
  }

  /**
   * Adds candidates. Among slow ones, those of the tenants with the fewest slow slots come first.
   */
  take(candidates: readonly EndpointCandidate[]): void {
    const isSlow = ({ id, isFailing }: EndpointCandidate): boolean =>
      isFailing || this.slots.isSlow(id);
    for (const candidate of candidates)
      if (!isSlow(candidate) && !this.isFull) this.healthy.set(candidate.id, candidate);
    const slow = candidates.filter(isSlow);
    const held = new Map<Uuid, number>();
    for (const { tenantId } of [...this.slow.values()])
      held.set(tenantId, (held.get(tenantId) ?? 0) + 1);
    // A tenant's second endpoint ranks behind every tenant's first.
    const ranked = slow.map((candidate) => {
      const { tenantId } = candidate;
      const own = (held.get(tenantId) ?? 0) + 1;
      held.set(tenantId, own);
      return { candidate, rank: this.slots.heldBy(tenantId) + own };
    });
    for (const { candidate } of ranked.toSorted((a, b) => a.rank - b.rank))
      if (this.slow.size < this.room.failing) this.slow.set(candidate.id, candidate);
  }
}
