import { setMaxListeners } from 'node:events';
import { ExpiringCache } from '../core/expiring-cache.js';
import { groupBy } from '../core/collections.js';
import type { Uuid } from '../core/ids.js';
import type { Instant } from '../core/instant.js';
import { Pause } from '../core/timers.js';
import { transact } from '../db/reader.js';
import type { WebhookDeps } from './deps.js';
import {
  claim,
  type EndpointCandidate,
  endpointsBehind,
  endpointsDue,
  type EndpointState,
  LogWatcher,
  makeDue,
} from './endpoint-claims.js';
import { EndpointRun } from './endpoint-run.js';
import { PROMPT_MS } from './rules.js';

/** Pauses after a round that claimed endpoints, and after one that did not. */
const PAUSES = { busyMs: 25, idleMs: 100 };
const FAILED_MS = 1_000;
const TENANTS_AT_ONCE = 128;
const CLAIMED_AT_ONCE = 64;

/**
 * Finds endpoints with new events or due deliveries, claims them, and starts a run for each. Only
 * dispatchers send. (docs/architecture.md, Events and webhooks)
 */
export class WebhookDispatcher {
  private readonly stopping = new AbortController();
  private readonly log = new LogWatcher();
  private readonly slots: EndpointSlots;
  /** Runs by endpoint. */
  private readonly running = new Map<Uuid, Promise<void>>();
  private readonly deps: WebhookDeps;
  private isDueFirst = false;
  /** True if an endpoint was released since the round began. */
  private hasReleased = false;
  private rounds: Promise<void> = Promise.resolve();
  private readonly rest = new Pause();
  private readonly idle = new Pause();

  /** Sends to at most `slots` fast endpoints, and as many slow ones, at a time. */
  constructor(
    deps: WebhookDeps,
    slots: number,
    private readonly pauses = PAUSES,
  ) {
    const { observer } = deps;
    this.slots = new EndpointSlots(slots);
    const attempted: typeof observer.attempted = (attempt) => {
      this.slots.attempted(attempt.delivery.endpointId, attempt.result.durationMs);
      observer.attempted(attempt);
    };
    this.deps = { ...deps, observer: { ...observer, attempted } };
    setMaxListeners(0, this.stopping.signal);
  }

  start(): void {
    this.rounds = this.run();
  }

  /** Stops claiming endpoints. Resolves once everything in flight has been stored. */
  async stop(): Promise<void> {
    this.stopping.abort();
    this.rest.close();
    this.idle.close();
    await this.rounds;
    await Promise.all(this.running.values());
  }

  private async run(): Promise<void> {
    while (!this.stopping.signal.aborted) {
      let [restMs, idleMs] = [FAILED_MS, 0];
      try {
        const isBusy = await this.round();
        restMs = this.pauses.busyMs;
        idleMs = isBusy ? 0 : this.pauses.idleMs - restMs;
      } catch (fault) {
        this.deps.observer.failed(fault);
      }
      await this.rest.for(restMs);
      if (idleMs > 0 && !this.hasReleased) await this.idle.for(idleMs);
    }
  }

  /** Returns whether endpoints were chosen. */
  private async round(): Promise<boolean> {
    this.hasReleased = false;
    const choice = new SlotChoice(this.slots);
    if (choice.isFull) return false;
    const { reader } = this.deps.database;
    const now = this.deps.clock();
    const [tenantIds, due] = await Promise.all([
      this.log.read(reader, now),
      endpointsDue(reader, now),
    ]);
    // Due deliveries and new events have priority in alternate rounds, so that both progress.
    this.isDueFirst = !this.isDueFirst;
    try {
      if (this.isDueFirst) choice.take(due);
      await this.takeBehind(tenantIds, choice, now);
      choice.take(due);
      const chosen = choice.all;
      for (let from = 0; from < chosen.length; from += CLAIMED_AT_ONCE)
        if (!this.stopping.signal.aborted)
          await this.begin(chosen.slice(from, from + CLAIMED_AT_ONCE));
      return chosen.length > 0;
    } catch (fault) {
      // Due endpoints stay due in the database; tenants with new events must be examined again.
      for (const tenantId of tenantIds) this.log.examine(tenantId);
      throw fault;
    }
  }

  /** Chooses endpoints with new events, of the tenants that have waited longest first. */
  private async takeBehind(
    tenantIds: readonly Uuid[],
    choice: SlotChoice,
    now: Instant,
  ): Promise<void> {
    const { database } = this.deps;
    for (let from = 0; from < tenantIds.length && !choice.isFull; from += TENANTS_AT_ONCE) {
      const some = tenantIds.slice(from, from + TENANTS_AT_ONCE);
      const behind = await endpointsBehind(database.reader, some, now);
      // A probed endpoint becomes due at its next probe, even if its next retry is later.
      const late = behind.filter(({ isProbed, isBusy }) => isProbed && !isBusy).map(({ id }) => id);
      if (late.length > 0)
        await transact(database, (transaction) => makeDue(transaction, late, now));
      const groups = groupBy(behind, ({ tenantId }) => tenantId);
      for (const tenantId of some) this.takeOf(tenantId, groups.get(tenantId) ?? [], choice);
    }
  }

  /** A tenant with endpoints left is examined again: first if none was chosen, otherwise last. */
  private takeOf(tenantId: Uuid, behind: readonly EndpointCandidate[], choice: SlotChoice): void {
    choice.take(behind.filter(({ isBusy, isProbed }) => !isBusy && !isProbed));
    const isLeft = behind.some(({ id, isBusy, isProbed }) =>
      // An endpoint that this process sends to is examined when it is released.
      isBusy ? !this.running.has(id) : !isProbed && !choice.has(id),
    );
    if (isLeft && !behind.some(({ id }) => choice.has(id))) return;
    this.log.done(tenantId);
    if (isLeft) this.log.examine(tenantId);
  }

  private async begin(candidates: readonly EndpointCandidate[]): Promise<void> {
    const { database, clock } = this.deps;
    const claimed = await transact(database, (transaction) =>
      claim(
        transaction,
        candidates.map(({ id }) => id),
        clock(),
      ),
    );
    const ids = new Set(claimed.map(({ endpoint }) => endpoint.id));
    for (const { id, tenantId } of candidates) if (!ids.has(id)) this.log.examine(tenantId);
    for (const one of claimed) this.running.set(one.endpoint.id, this.send(one));
  }

  private async send(claimed: EndpointState): Promise<void> {
    const { id, tenantId, failuresInRow } = claimed.endpoint;
    const { observer } = this.deps;
    const { signal } = this.stopping;
    const slot = this.slots.enter(tenantId);
    if (failuresInRow > 0 || this.slots.isSlow(id)) slot.becomesSlow();
    observer.sending(...this.slots.taken);
    try {
      await new EndpointRun(this.deps, claimed, signal, () => slot.becomesSlow()).run();
    } catch (fault) {
      observer.failed(fault);
    }
    slot.leave();
    observer.sending(...this.slots.taken);
    this.running.delete(id);
    // The run may have left new events or due deliveries.
    this.log.examine(tenantId);
    this.hasReleased = true;
    this.idle.end();
  }
}

const MAX_SLOW = 10_000;
const SLOW_FOR_MS = 3_600_000;

interface Slot {
  readonly tenantId: Uuid;
  isSlow: boolean;
}

/**
 * Slots of running endpoints. Failing and slow ones have separate slots, shared fairly by tenants.
 */
export class EndpointSlots {
  private readonly slots = new Set<Slot>();
  private readonly slowEndpoints = new ExpiringCache<true>(MAX_SLOW, SLOW_FOR_MS);

  constructor(private readonly perClass: number) {}

  get taken(): readonly [fast: number, slow: number] {
    const slow = this.slow().length;
    return [this.slots.size - slow, slow];
  }

  private slow(): readonly Slot[] {
    return [...this.slots].filter(({ isSlow }) => isSlow);
  }

  /** Returns the free slots, fast and slow ones. */
  get free(): readonly [fast: number, slow: number] {
    const [fast, slow] = this.taken;
    return [this.perClass - fast, this.perClass - slow];
  }

  isSlow(endpointId: Uuid): boolean {
    return this.slowEndpoints.get(endpointId, performance.now()) === true;
  }

  attempted(endpointId: Uuid, durationMs: number): void {
    if (durationMs < PROMPT_MS) this.slowEndpoints.delete(endpointId);
    else this.slowEndpoints.set(endpointId, true, performance.now());
  }

  /** Returns the number of slow slots that each tenant has. */
  held(): Map<Uuid, number> {
    const slots = groupBy(this.slow(), ({ tenantId }) => tenantId);
    return new Map(Array.from(slots, ([id, own]) => [id, own.length]));
  }

  /** Takes a fast slot. `becomesSlow` moves it to the slow ones if one is free. */
  enter(tenantId: Uuid): { becomesSlow(): void; leave(): void } {
    const slot: Slot = { tenantId, isSlow: false };
    this.slots.add(slot);
    return {
      becomesSlow: () => {
        if (this.taken[1] < this.perClass) slot.isSlow = true;
      },
      leave: () => void this.slots.delete(slot),
    };
  }
}

export class SlotChoice {
  private readonly healthy = new Map<Uuid, EndpointCandidate>();
  private readonly slow = new Map<Uuid, EndpointCandidate>();
  private readonly free: EndpointSlots['free'];

  constructor(private readonly slots: EndpointSlots) {
    this.free = slots.free;
  }

  get isFull(): boolean {
    return this.healthy.size >= this.free[0];
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
    if (this.slow.size >= this.free[1]) return;
    const held = this.slots.held();
    const rankOf = ({ tenantId }: EndpointCandidate): number => {
      const rank = (held.get(tenantId) ?? 0) + 1;
      held.set(tenantId, rank);
      return rank;
    };
    for (const candidate of this.slow.values()) rankOf(candidate);
    const ranked = candidates
      .filter(isSlow)
      .map((candidate) => ({ candidate, rank: rankOf(candidate) }));
    for (const { candidate } of ranked.toSorted((a, b) => a.rank - b.rank))
      if (this.slow.size < this.free[1]) this.slow.set(candidate.id, candidate);
  }
}
