import type { Uuid } from '../core/ids.js';
import { ExpiringCache } from '../core/expiring-cache.js';
import { PROMPT_MS } from './rules.js';
import type { EndpointCandidate, FreeSlots } from './endpoint-claims.js';

const MAX_SLOW = 10_000;
const SLOW_FOR_MS = 3_600_000;
const TAKEN_AT_ONCE = 512;

interface Slot {
  readonly tenantId: Uuid;
  isSlow: boolean;
}

/** Endpoints that fail or are slow have slots of their own, first for tenants with the fewest. */
export class EndpointSlots {
  /** By endpoint. */
  private readonly slots = new Map<Uuid, Slot>();
  private readonly slowEndpoints = new ExpiringCache<true>(MAX_SLOW, SLOW_FOR_MS);

  constructor(private readonly each: number) {}

  get taken(): readonly [fast: number, slow: number] {
    const slow = this.count(({ isSlow }) => isSlow);
    return [this.slots.size - slow, slow];
  }

  private count(isCounted: (slot: Slot) => boolean): number {
    return [...this.slots.values()].filter(isCounted).length;
  }

  get slowCount(): number {
    return this.slowEndpoints.size;
  }

  get room(): FreeSlots {
    const [fast, slow] = this.taken;
    return {
      well: Math.min(this.each - fast, TAKEN_AT_ONCE),
      failing: Math.min(this.each - slow, TAKEN_AT_ONCE),
    };
  }

  has(endpointId: Uuid): boolean {
    return this.slots.has(endpointId);
  }

  /** Gives free slots to candidates that have none, and returns those that got one. */
  take(candidates: readonly EndpointCandidate[]): readonly EndpointCandidate[] {
    const { well, failing } = this.room;
    const isSlow = ({ id, isFailing }: EndpointCandidate): boolean =>
      isFailing || this.slowEndpoints.get(id, performance.now()) === true;
    const without = candidates.filter(({ id }) => !this.slots.has(id));
    const fast = without.filter((one) => !isSlow(one)).slice(0, well);
    const slow = this.inFairOrder(without.filter(isSlow)).slice(0, failing);
    for (const { id, tenantId } of fast) this.slots.set(id, { tenantId, isSlow: false });
    for (const { id, tenantId } of slow) this.slots.set(id, { tenantId, isSlow: true });
    return [...fast, ...slow];
  }

  /** Orders candidates so that tenants with the fewest slow slots come first. */
  private inFairOrder(candidates: readonly EndpointCandidate[]): EndpointCandidate[] {
    const held = new Map<Uuid, number>();
    const ranked = candidates.map((candidate) => {
      const { tenantId } = candidate;
      const rank =
        held.get(tenantId) ?? this.count((slot) => slot.isSlow && slot.tenantId === tenantId);
      held.set(tenantId, rank + 1);
      return { candidate, rank };
    });
    return ranked.toSorted((a, b) => a.rank - b.rank).map(({ candidate }) => candidate);
  }

  attempted(endpointId: Uuid, durationMs: number): void {
    if (durationMs < PROMPT_MS) this.slowEndpoints.delete(endpointId);
    else this.slowEndpoints.set(endpointId, true, performance.now());
  }

  /** Moves the endpoint to a slow slot if one is free. */
  becomesSlow(endpointId: Uuid): void {
    const slot = this.slots.get(endpointId);
    if (slot !== undefined && this.taken[1] < this.each) slot.isSlow = true;
  }

  leave(endpointId: Uuid): void {
    this.slots.delete(endpointId);
  }
}
