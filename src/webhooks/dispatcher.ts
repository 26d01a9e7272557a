import { setMaxListeners } from 'node:events';
import { groupBy } from '../core/collections.js';
import type { Uuid } from '../core/ids.js';
import { type Instant, instant } from '../core/instant.js';
import { Pause } from '../core/pause.js';
import * as column from '../db/columns.js';
import type { Reader } from '../db/database.js';
import { transact } from '../db/transact.js';
import { SETTLED_AFTER_MS } from '../ledger/database-clock.js';
import type { StoredResults } from './delivery-store.js';
import type { WebhookDeps } from './deps.js';
import {
  claim,
  type EndpointBehind,
  type EndpointCandidate,
  endpointsBehind,
  endpointsDue,
  type EndpointState,
  makeDue,
} from './endpoint-claims.js';
import { EndpointRun } from './endpoint-run.js';
import { EndpointSlots } from './endpoint-slots.js';

/** Pauses after a round that claimed endpoints, and after one that did not. */
const PAUSES = { busyMs: 25, idleMs: 100 };
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
  private readonly running = new Map<Uuid, Promise<void>>();
  private isDueFirst = false;
  private lookedForDueAt = Number.NEGATIVE_INFINITY;
  /** New events have arrived for an endpoint that was just released. */
  private isAwaited = false;
  private rounds: Promise<void> = Promise.resolve();
  private readonly rest = new Pause();
  private readonly idle = new Pause();

  /** `slots`: how many endpoints at a time, and the same number of slow ones in addition. */
  constructor(
    private readonly deps: WebhookDeps,
    slots: number,
    private readonly pauses = PAUSES,
  ) {
    this.slots = new EndpointSlots(slots);
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
      const { busyMs, idleMs } = this.pauses;
      try {
        const isBusy = await this.round();
        await this.rest.for(busyMs);
        if (!isBusy && !this.isAwaited) await this.idle.for(idleMs - busyMs);
      } catch (fault) {
        this.deps.observer.failed(fault);
        await this.rest.for(FAILED_MS);
      }
    }
  }

  /** Returns whether endpoints were chosen. */
  private async round(): Promise<boolean> {
    this.isAwaited = false;
    if (this.slots.room.well <= 0) return false;
    const now = this.deps.clock();
    const [tenantIds, due] = await Promise.all([
      this.log.read(this.deps.database.reader, now),
      this.due(now),
    ]);
    // Due deliveries and new events have priority in alternate rounds, so that both progress.
    this.isDueFirst = !this.isDueFirst;
    const chosen: EndpointCandidate[] = [];
    try {
      if (this.isDueFirst) chosen.push(...this.slots.take(due));
      await this.takeBehind(tenantIds, chosen, now);
      chosen.push(...this.slots.take(due));
      for (let from = 0; from < chosen.length; from += CLAIMED_AT_ONCE)
        if (!this.stopping.signal.aborted)
          await this.begin(chosen.slice(from, from + CLAIMED_AT_ONCE));
      return chosen.length > 0;
    } catch (fault) {
      // Due endpoints stay due in the database; tenants with new events must be examined again.
      for (const tenantId of tenantIds) this.log.examine(tenantId);
      throw fault;
    } finally {
      for (const { id } of chosen) if (!this.running.has(id)) this.slots.leave(id);
    }
  }

  private async due(now: Instant): Promise<readonly EndpointCandidate[]> {
    const began = performance.now();
    if (began - this.lookedForDueAt < DUE_EVERY_MS) return [];
    const { well, failing } = this.slots.room;
    const room = { well: well + this.slots.slowCount, failing };
    const due = await endpointsDue(this.deps.database.reader, now, room);
    if (due.length === 0) this.lookedForDueAt = began;
    return due;
  }

  /** Chooses endpoints with new events, of the tenants that have waited longest first. */
  private async takeBehind(
    tenantIds: readonly Uuid[],
    chosen: EndpointCandidate[],
    now: Instant,
  ): Promise<void> {
    const { database } = this.deps;
    for (let from = 0; from < tenantIds.length; from += TENANTS_AT_ONCE) {
      if (this.slots.room.well <= 0) return;
      const some = tenantIds.slice(from, from + TENANTS_AT_ONCE);
      const behind = await endpointsBehind(database.reader, some, now);
      // A probed endpoint becomes due at its next probe, even if its next retry is later.
      const late = behind.filter(({ isProbed, isBusy }) => isProbed && !isBusy).map(({ id }) => id);
      if (late.length > 0)
        await transact(database, (transaction) => makeDue(transaction, late, now));
      const groups = groupBy(behind, ({ tenantId }) => tenantId);
      for (const tenantId of some)
        chosen.push(...this.takeOf(tenantId, groups.get(tenantId) ?? []));
    }
  }

  /** A tenant with endpoints left is examined again: first if none was taken, otherwise last. */
  private takeOf(tenantId: Uuid, behind: readonly EndpointBehind[]): readonly EndpointCandidate[] {
    const taken = this.slots.take(behind.filter(({ isBusy, isProbed }) => !isBusy && !isProbed));
    // An endpoint with a slot is examined when it is released.
    const isLeft = behind.some(
      ({ id, isBusy, isProbed }) => (isBusy || !isProbed) && !this.slots.has(id),
    );
    if (taken.length > 0 || !isLeft) this.log.done(tenantId);
    if (isLeft) this.log.examine(tenantId);
    return taken;
  }

  private async begin(candidates: readonly EndpointCandidate[]): Promise<void> {
    const { database, clock } = this.deps;
    const claimed = await transact(database, (transaction) =>
      claim(transaction, candidates, clock()),
    );
    const ids = new Set(claimed.map(({ endpoint }) => endpoint.id));
    for (const { id, tenantId } of candidates) if (!ids.has(id)) this.log.examine(tenantId);
    for (const state of claimed) this.running.set(state.endpoint.id, this.send(state));
  }

  private async send(state: EndpointState): Promise<void> {
    const { id, tenantId, failuresInRow } = state.endpoint;
    const { observer } = this.deps;
    if (failuresInRow > 0) this.slots.becomesSlow(id);
    observer.sending(...this.slots.taken);
    let stored: StoredResults | null = null;
    try {
      stored = await new EndpointRun(this.deps, state, this.stopping.signal, this.slots).run();
    } catch (fault) {
      observer.failed(fault);
    }
    this.slots.leave(id);
    this.running.delete(id);
    observer.sending(...this.slots.taken);
    this.released(tenantId, stored);
  }

  private released(tenantId: Uuid, stored: StoredResults | null): void {
    // The run may have left due deliveries.
    this.lookedForDueAt = Number.NEGATIVE_INFINITY;
    const nextDueAt = stored?.endpoint.nextDueAt ?? null;
    const isDue = nextDueAt !== null && nextDueAt <= this.deps.clock();
    if (stored !== null && !isDue && !this.log.isBeyond(tenantId, stored.head)) return;
    this.log.examine(tenantId);
    this.isAwaited = true;
    this.idle.end();
  }
}

/** An event is usually visible this long after its time. */
const MARGIN_MS = 1_000;
/** Interval of the reads that cover the time within which every event becomes visible. */
const WIDE_EVERY_MS = 1_000;

/** Finds tenants whose logs have grown, by the times of their last events. */
class LogWatcher {
  private seen = new Map<Uuid, bigint>();
  private readonly tenants = new Set<Uuid>();
  private readAt: Instant | null = null;
  private readWidelyAt = Number.NEGATIVE_INFINITY;

  async read(reader: Reader, now: Instant): Promise<readonly Uuid[]> {
    const isWide = this.readAt === null || performance.now() - this.readWidelyAt >= WIDE_EVERY_MS;
    const since = instant((this.readAt ?? now) - (isWide ? SETTLED_AFTER_MS : MARGIN_MS));
    const began = performance.now();
    const rows = await reader.query(
      `SELECT tenant_id, last_sequence FROM event_counters FORCE INDEX (recent) WHERE last_at>=${column.time.literal(since)}`,
    );
    const found = rows.map(
      (row) => [column.uuid.parse(row.tenant_id), column.bigint.parse(row.last_sequence)] as const,
    );
    for (const [tenantId, last] of found)
      if (this.seen.get(tenantId) !== last) this.tenants.add(tenantId);
    if (isWide) this.readWidelyAt = began;
    this.seen = new Map([...(isWide ? [] : this.seen), ...found]);
    this.readAt = now;
    return [...this.tenants];
  }

  examine(tenantId: Uuid): void {
    this.tenants.add(tenantId);
  }

  done(tenantId: Uuid): void {
    this.tenants.delete(tenantId);
  }

  /** True if the tenant's log is known to have grown beyond `head`. */
  isBeyond(tenantId: Uuid, head: bigint): boolean {
    return (this.seen.get(tenantId) ?? 0n) > head;
  }
}
