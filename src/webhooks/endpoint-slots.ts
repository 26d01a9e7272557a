import type { Uuid } from '../core/ids.js';
import { ExpiringCache } from '../core/expiring-cache.js';
import { PROMPT_MS } from './rules.js';
import type { EndpointCandidate, FreeSlots } from './work-finder.js';

const MAX_SLOW = 10_000;
const SLOW_FOR_MS = 3_600_000;
const FOUND_AT_ONCE = 512;

interface Slot {
  readonly tenantId: Uuid;
  isSlow: boolean;
}

/** Slots of running endpoints. Failing and slow ones have separate slots, shared fairly by tenants. */
export class EndpointSlots {
  private readonly slots = new Set<Slot>();
  private readonly slowEndpoints = new ExpiringCache<true>(MAX_SLOW, SLOW_FOR_MS);

  constructor(private readonly each: number) {}

  get taken(): readonly [fast: number, slow: number] {
    const slow = this.count(({ isSlow }) => isSlow);
    return [this.slots.size - slow, slow];
  }

  private count(isCounted: (slot: Slot) => boolean): number {
    return [...this.slots].filter(isCounted).length;
  }

  get slowCount(): number {
    return this.slowEndpoints.size;
  }

  get room(): FreeSlots {
    const [fast, slow] = this.taken;
    return {
      healthy: Math.min(Math.max(0, this.each - fast), FOUND_AT_ONCE),
      failing: Math.min(this.each - slow, FOUND_AT_ONCE),
    };
  }

  isSlow(endpointId: Uuid): boolean {
    return this.slowEndpoints.get(endpointId, performance.now()) === true;
  }

  attempted(endpointId: Uuid, durationMs: number): void {
    if (durationMs < PROMPT_MS) this.slowEndpoints.delete(endpointId);
    else this.slowEndpoints.set(endpointId, true, performance.now());
  }

  /** Returns the number of slow slots that the tenant has. */
  heldBy(tenantId: Uuid): number {
    return this.count((slot) => slot.isSlow && slot.tenantId === tenantId);
  }

  /** Takes a fast slot. `becomesSlow` moves it to the slow ones if one is free. */
  enter(tenantId: Uuid): { becomesSlow(): void; leave(): void } {
    const slot: Slot = { tenantId, isSlow: false };
    this.slots.add(slot);
    return {
      becomesSlow: () => {
        if (this.taken[1] < this.each) slot.isSlow = true;
      },
      leave: () => void this.slots.delete(slot),
    };
  }
}

export class SlotChoice {
  private readonly healthy = new Map<Uuid, EndpointCandidate>();
  private readonly slow = new Map<Uuid, EndpointCandidate>();
  private readonly room: FreeSlots;

  constructor(private readonly slots: EndpointSlots) {
    this.room = slots.room;
  }

  get isFull(): boolean {
    return this.healthy.size >= this.room.healthy;
  }

  get all(): readonly EndpointCandidate[] {
    return [...this.healthy.values(), ...this.slow.values()];
  }

  has(id: Uuid): boolean {
    return this.healthy.has(id) || this.slow.has(id);
  }

  /** Adds candidates, slow ones of the tenants with the fewest slow slots first. */
  take(candidates: readonly EndpointCandidate[]): void {
    const isSlow = ({ id, isFailing }: EndpointCandidate): boolean =>
      isFailing || this.slots.isSlow(id);
    for (const candidate of candidates)
      if (!isSlow(candidate) && !this.isFull) this.healthy.set(candidate.id, candidate);
    const slow = candidates.filter(isSlow);
    const held = new Map<Uuid, number>();
    for (const { tenantId } of [...this.slow.values()])
      held.set(tenantId, (held.get(tenantId) ?? 0) + 1);
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
