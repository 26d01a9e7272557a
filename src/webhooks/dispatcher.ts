import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { ExpiringCache } from '../core/expiring-cache.js';
import { groupBy } from '../core/collections.js';
import type { Uuid } from '../core/ids.js';
import type { Instant } from '../core/instant.js';
import { Pause } from '../core/timers.js';
import { transact } from '../db/reader.js';
import type { WebhookDeps } from './deps.js';
import type { EndpointState } from './endpoint-state.js';
import { claimEndpoints } from './endpoint-claims.js';
import {
  type EndpointCandidate,
  findEndpointsWithNewEvents,
  findDueEndpoints,
  LogWatcher,
  makeEndpointsDue,
} from './endpoint-search.js';
import { EndpointRun } from './endpoint-run.js';
import { SLOW_AFTER_MS } from './rules.js';
import { sweepEndpoints } from './sweeps.js';

/** Time between rounds, after a round that found endpoints, and after a round that did not. */
const PAUSES = { busyMs: 25, idleMs: 100 };
const FAILED_ROUND_PAUSE_MS = 1_000;
const TENANTS_PER_QUERY = 128;
const ENDPOINTS_PER_CLAIM = 64;

/**
 * Finds endpoints with new events or due deliveries, claims them, and starts a run for each. Only
 * dispatchers send. (docs/architecture.md, Events and webhooks)
 */
export class WebhookDispatcher {
  private readonly stopping = new AbortController();
  private readonly logs = new LogWatcher();
  private readonly slots: EndpointSlots;
  /** Runs by endpoint. */
  private readonly running = new Map<Uuid, Promise<void>>();
  private readonly deps: WebhookDeps;
  private isDueFirst = false;
  /** True if an endpoint was released since the round began. */
  private hasReleased = false;
  private loops: Promise<unknown> = Promise.resolve();
  private readonly roundPause = new Pause();
  /** Extends the pause after a round that found nothing. Ends when an endpoint is released. */
  private readonly idlePause = new Pause();

  /** Sends to at most `slots` fast endpoints, and as many slow ones, at a time. */
  constructor(
    deps: WebhookDeps,
    slots: number,
    private readonly pauses = PAUSES,
  ) {
    const { observer } = deps;
    this.slots = new EndpointSlots(slots);
    const attempted: typeof observer.attempted = (attempt) => {
      this.slots.recordDuration(attempt.delivery.endpointId, attempt.result.durationMs);
      observer.attempted(attempt);
    };
    this.deps = { ...deps, observer: { ...observer, attempted } };
    setMaxListeners(0, this.stopping.signal);
  }

  start(): void {
    this.loops = Promise.all([this.run(), this.findMissed()]);
  }

  /** Stops claiming endpoints. Resolves once everything in flight has been stored. */
  async stop(): Promise<void> {
    this.stopping.abort();
    this.roundPause.close();
    this.idlePause.close();
    await this.loops;
    await Promise.all(this.running.values());
  }

  private async run(): Promise<void> {
    while (!this.stopping.signal.aborted) {
      let [pauseMs, idleMs] = [FAILED_ROUND_PAUSE_MS, 0];
      try {
        const hasChosen = await this.round();
        pauseMs = this.pauses.busyMs;
        idleMs = hasChosen ? 0 : this.pauses.idleMs - pauseMs;
      } catch (fault) {
        this.deps.observer.failed(fault);
      }
      await this.roundPause.for(pauseMs);
      if (idleMs > 0 && !this.hasReleased) await this.idlePause.for(idleMs);
    }
  }

  /** Makes endpoints due whose events are older than what `logs` reads first. */
  private async findMissed(): Promise<void> {
    const { signal } = this.stopping;
    for (let after: Uuid | null = null; !signal.aborted;)
      try {
        after = await sweepEndpoints(this.deps.database, this.deps.clock(), after);
        if (after === null) return;
      } catch (fault) {
        this.deps.observer.failed(fault);
        await sleep(FAILED_ROUND_PAUSE_MS, undefined, { signal }).catch(() => undefined);
      }
  }

  /** Runs due endpoints and endpoints with new events. Returns whether any were chosen. */
  private async round(): Promise<boolean> {
    this.hasReleased = false;
    const choice = new EndpointChoice(this.slots);
    if (choice.isFull) return false;
    const { reader } = this.deps.database;
    const now = this.deps.clock();
    const [tenantIds, due] = await Promise.all([
      this.logs.read(reader, now),
      findDueEndpoints(reader, now),
    ]);
    // Due deliveries and new events have priority in alternate rounds, so that both progress.
    this.isDueFirst = !this.isDueFirst;
    try {
      if (this.isDueFirst) choice.add(due);
      await this.chooseWithNewEvents(tenantIds, choice, now);
      choice.add(due);
      const chosen = choice.all;
      for (let from = 0; from < chosen.length; from += ENDPOINTS_PER_CLAIM)
        if (!this.stopping.signal.aborted)
          await this.claimAndRun(chosen.slice(from, from + ENDPOINTS_PER_CLAIM));
      return chosen.length > 0;
    } catch (fault) {
      // Due endpoints stay due in the database. Tenants with new events must be read again.
      for (const tenantId of tenantIds) this.logs.markUnread(tenantId);
      throw fault;
    }
  }

  /** Chooses endpoints with new events, of the tenants that have waited longest first. */
  private async chooseWithNewEvents(
    tenantIds: readonly Uuid[],
    choice: EndpointChoice,
    now: Instant,
  ): Promise<void> {
    const { database } = this.deps;
    for (let from = 0; from < tenantIds.length && !choice.isFull; from += TENANTS_PER_QUERY) {
      const slice = tenantIds.slice(from, from + TENANTS_PER_QUERY);
      const candidates = await findEndpointsWithNewEvents(database.reader, slice, now);
      // Due at the next probe, even if the next retry is later.
      const probed = candidates
        .filter(({ waitsForProbe, isClaimed }) => waitsForProbe && !isClaimed)
        .map(({ id }) => id);
      if (probed.length > 0)
        await transact(database, (transaction) => makeEndpointsDue(transaction, probed, now));
      const groups = groupBy(candidates, ({ tenantId }) => tenantId);
      for (const tenantId of slice)
        this.chooseOfTenant(tenantId, groups.get(tenantId) ?? [], choice);
    }
  }

  /** A tenant with endpoints left is read again: first if none was chosen, otherwise last. */
  private chooseOfTenant(
    tenantId: Uuid,
    candidates: readonly EndpointCandidate[],
    choice: EndpointChoice,
  ): void {
    choice.add(candidates.filter(({ isClaimed, waitsForProbe }) => !isClaimed && !waitsForProbe));
    const isLeft = candidates.some(({ id, isClaimed, waitsForProbe }) =>
      // When this process releases an endpoint, it marks the tenant as unread.
      isClaimed ? !this.running.has(id) : !waitsForProbe && !choice.has(id),
    );
    if (isLeft && !candidates.some(({ id }) => choice.has(id))) return;
    this.logs.markRead(tenantId);
    if (isLeft) this.logs.markUnread(tenantId);
  }

  private async claimAndRun(candidates: readonly EndpointCandidate[]): Promise<void> {
    const { database, clock, observer } = this.deps;
    const { states, unreadable } = await transact(database, (transaction) =>
      claimEndpoints(
        transaction,
        candidates.map(({ id }) => id),
        clock(),
      ),
    );
    for (const [id, fault] of unreadable) observer.setAside(id, fault);
    const ids = new Set(states.map(({ endpoint }) => endpoint.id));
    for (const { id, tenantId } of candidates) if (!ids.has(id)) this.logs.markUnread(tenantId);
    for (const state of states) this.running.set(state.endpoint.id, this.runEndpoint(state));
  }

  private async runEndpoint(state: EndpointState): Promise<void> {
    const { id, tenantId, failuresInRow } = state.endpoint;
    const { observer } = this.deps;
    const { signal } = this.stopping;
    const slot = this.slots.take(tenantId);
    if (failuresInRow > 0 || this.slots.isSlow(id)) slot.moveToSlow();
    observer.slotsTaken(...this.slots.taken);
    try {
      await new EndpointRun(this.deps, state, signal, () => slot.moveToSlow()).run();
    } catch (fault) {
      observer.failed(fault);
    }
    slot.leave();
    observer.slotsTaken(...this.slots.taken);
    this.running.delete(id);
    // The run may have left new events or due deliveries.
    this.logs.markUnread(tenantId);
    this.hasReleased = true;
    this.idlePause.end();
  }
}

const MAX_SLOW_REMEMBERED = 10_000;
const SLOW_FOR_MS = 3_600_000;

interface Slot {
  readonly tenantId: Uuid;
  isSlow: boolean;
}

/** Slots of running endpoints. Failing and slow endpoints have slots of their own. */
export class EndpointSlots {
  private readonly slots = new Set<Slot>();
  private readonly slowEndpoints = new ExpiringCache<true>(MAX_SLOW_REMEMBERED, SLOW_FOR_MS);

  constructor(private readonly slotsEach: number) {}

  get taken(): readonly [fast: number, slow: number] {
    const slow = this.slowSlots().length;
    return [this.slots.size - slow, slow];
  }

  private slowSlots(): readonly Slot[] {
    return [...this.slots].filter(({ isSlow }) => isSlow);
  }

  get free(): readonly [fast: number, slow: number] {
    const [fast, slow] = this.taken;
    return [this.slotsEach - fast, this.slotsEach - slow];
  }

  isSlow(endpointId: Uuid): boolean {
    return this.slowEndpoints.get(endpointId, performance.now()) === true;
  }

  recordDuration(endpointId: Uuid, durationMs: number): void {
    if (durationMs < SLOW_AFTER_MS) this.slowEndpoints.delete(endpointId);
    else this.slowEndpoints.set(endpointId, true, performance.now());
  }

  countSlowByTenant(): Map<Uuid, number> {
    const slots = groupBy(this.slowSlots(), ({ tenantId }) => tenantId);
    return new Map(Array.from(slots, ([id, own]) => [id, own.length]));
  }

  /** Takes a fast slot. `moveToSlow` exchanges it for a slow one if one is free. */
  take(tenantId: Uuid): { moveToSlow(): void; leave(): void } {
    const slot: Slot = { tenantId, isSlow: false };
    this.slots.add(slot);
    return {
      moveToSlow: () => {
        if (this.taken[1] < this.slotsEach) slot.isSlow = true;
      },
      leave: () => void this.slots.delete(slot),
    };
  }
}

/** Endpoints chosen in one round, at most as many as there are free slots. */
export class EndpointChoice {
  private readonly fast = new Map<Uuid, EndpointCandidate>();
  private readonly slow = new Map<Uuid, EndpointCandidate>();
  private readonly free: EndpointSlots['free'];

  constructor(private readonly slots: EndpointSlots) {
    this.free = slots.free;
  }

  get isFull(): boolean {
    return this.fast.size >= this.free[0];
  }

  get all(): readonly EndpointCandidate[] {
    return [...this.fast.values(), ...this.slow.values()];
  }

  has(id: Uuid): boolean {
    return this.fast.has(id) || this.slow.has(id);
  }

  /** Adds candidates, slow ones of the tenants with the fewest slow slots first. */
  add(candidates: readonly EndpointCandidate[]): void {
    const isSlow = ({ id, isFailing }: EndpointCandidate): boolean =>
      isFailing || this.slots.isSlow(id);
    for (const candidate of candidates)
      if (!isSlow(candidate) && !this.isFull) this.fast.set(candidate.id, candidate);
    if (this.slow.size >= this.free[1]) return;
    const slowByTenant = this.slots.countSlowByTenant();
    const nextRank = ({ tenantId }: EndpointCandidate): number => {
      const rank = (slowByTenant.get(tenantId) ?? 0) + 1;
      slowByTenant.set(tenantId, rank);
      return rank;
    };
    for (const candidate of this.slow.values()) nextRank(candidate);
    const ranked = candidates
      .filter(isSlow)
      .map((candidate) => ({ candidate, rank: nextRank(candidate) }));
    for (const { candidate } of ranked.toSorted((a, b) => a.rank - b.rank))
      if (this.slow.size < this.free[1]) this.slow.set(candidate.id, candidate);
  }
}
