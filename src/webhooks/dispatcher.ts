import { setMaxListeners } from 'node:events';
import { groupBy } from '../core/collections.js';
import type { Uuid } from '../core/ids.js';
import type { Instant } from '../core/instant.js';
import { Pause } from '../core/pause.js';
import { transact } from '../db/transact.js';
import type { WebhookDeps } from './deps.js';
import { claim, type ClaimedEndpoint } from './endpoint-claims.js';
import { EndpointRun } from './endpoint-run.js';
import { SlotChoice, EndpointSlots } from './endpoint-slots.js';
import type { StoredResults } from './results.js';
import {
  type EndpointCandidate,
  endpointsBehind,
  endpointsDue,
  LogWatcher,
  makeDue,
} from './work-finder.js';

/** Pauses after a round that claimed endpoints, and after one that did not. */
const PAUSES = { busyMs: 25, idleMs: 100 };
/** A round pauses for three times as long as its queries took, at most this. */
const MAX_PAUSE_MS = 100;
const PAUSE_FACTOR = 3;
const FAILED_MS = 1_000;
/** Between two queries for retries, probes and redeliveries while none is due. */
const DUE_EVERY_MS = 250;
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
  private dueSearchedAt = Number.NEGATIVE_INFINITY;
  private searchMs = 0;
  /** True if an endpoint that was just released has new events or due deliveries. */
  private hasNewWork = false;
  private rounds: Promise<void> = Promise.resolve();
  private readonly rest = new Pause();
  private readonly idle = new Pause();

  /** `slots`: maximum of endpoints at a time, and the same number of slow ones in addition. */
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

  /** Claims nothing more. Resolves once everything in flight has been stored. */
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
        const { isBusy, searchMs } = await this.round();
        // A single query may have been delayed, so the quicker of the last two counts.
        const costMs = Math.min(searchMs, this.searchMs);
        this.searchMs = searchMs;
        restMs = Math.max(this.pauses.busyMs, Math.min(costMs * PAUSE_FACTOR, MAX_PAUSE_MS));
        idleMs = isBusy ? 0 : this.pauses.idleMs - restMs;
      } catch (fault) {
        this.deps.observer.failed(fault);
      }
      await this.rest.for(restMs);
      if (idleMs > 0 && !this.hasNewWork) await this.idle.for(idleMs);
    }
  }

  private async round(): Promise<{ readonly isBusy: boolean; readonly searchMs: number }> {
    this.hasNewWork = false;
    const began = performance.now();
    const choice = new SlotChoice(this.slots);
    if (choice.isFull) return { isBusy: false, searchMs: 0 };
    const now = this.deps.clock();
    const [tenantIds, due] = await Promise.all([
      this.log.read(this.deps.database.reader, now),
      this.due(now),
    ]);
    // Due deliveries and new events have priority in alternate rounds, so that both progress.
    this.isDueFirst = !this.isDueFirst;
    try {
      if (this.isDueFirst) choice.take(due);
      await this.takeBehind(tenantIds, choice, now);
      choice.take(due);
      const searchMs = performance.now() - began;
      const chosen = choice.all;
      for (let from = 0; from < chosen.length; from += CLAIMED_AT_ONCE)
        if (!this.stopping.signal.aborted)
          await this.begin(chosen.slice(from, from + CLAIMED_AT_ONCE));
      return { isBusy: chosen.length > 0, searchMs };
    } catch (fault) {
      // Due endpoints stay due in the database; tenants with new events must be examined again.
      for (const tenantId of tenantIds) this.log.examine(tenantId);
      throw fault;
    }
  }

  private async due(now: Instant): Promise<readonly EndpointCandidate[]> {
    const began = performance.now();
    if (began - this.dueSearchedAt < DUE_EVERY_MS) return [];
    const { healthy, failing } = this.slots.room;
    const room = { healthy: healthy + this.slots.slowCount, failing };
    const due = await endpointsDue(this.deps.database.reader, now, room);
    if (due.length === 0) this.dueSearchedAt = began;
    return due;
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
      claim(transaction, candidates, clock()),
    );
    const ids = new Set(claimed.map(({ state }) => state.endpoint.id));
    for (const { id, tenantId } of candidates) if (!ids.has(id)) this.log.examine(tenantId);
    for (const one of claimed) this.running.set(one.state.endpoint.id, this.send(one));
  }

  private async send(claimed: ClaimedEndpoint): Promise<void> {
    const { id, tenantId, failuresInRow } = claimed.state.endpoint;
    const { observer } = this.deps;
    const { signal } = this.stopping;
    const slot = this.slots.enter(tenantId);
    if (failuresInRow > 0 || this.slots.isSlow(id)) slot.becomesSlow();
    observer.sending(...this.slots.taken);
    let stored: StoredResults | null = null;
    try {
      stored = await new EndpointRun(this.deps, claimed, signal, () => slot.becomesSlow()).run();
    } catch (fault) {
      observer.failed(fault);
    }
    slot.leave();
    observer.sending(...this.slots.taken);
    this.running.delete(id);
    this.released(tenantId, stored);
  }

  private released(tenantId: Uuid, stored: StoredResults | null): void {
    // The run may have left due deliveries.
    this.dueSearchedAt = Number.NEGATIVE_INFINITY;
    const { nextDueAt } = stored?.state.endpoint ?? { nextDueAt: null };
    const isDue = nextDueAt !== null && nextDueAt <= this.deps.clock();
    if (stored !== null && !isDue && !this.log.isBeyond(tenantId, stored.state.head)) return;
    this.log.examine(tenantId);
    this.hasNewWork = true;
    this.idle.end();
  }
}
