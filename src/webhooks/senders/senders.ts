import { setMaxListeners } from 'node:events';
import { groupBy } from '../../core/collections.js';
import type { Uuid } from '../../core/ids.js';
import type { Instant } from '../../core/instant.js';
import { Pause } from '../../core/pause.js';
import { Recent } from '../../core/recent.js';
import { transact } from '../../db/transact.js';
import { DrainRun } from '../drain/drain-run.js';
import type { EndpointState } from '../drain/lease.js';
import { isOfOne } from '../drain/runs-database.js';
import type { Wanted } from '../drain/near.js';
import type { Random } from '../drain/types.js';
import type { WebhookDeps } from '../deps.js';
import { PROMPT_MS } from '../rules.js';
import { Choice } from './choice.js';
import { claim, type Claimed } from './claiming.js';
import { type Candidate, endpointsDue, endpointsWithNews, makeDue, type Room } from './finding.js';
import { Flight } from './flight.js';
import { lightWork } from './light.js';
import { News } from './news.js';
import { Pace, PAUSES } from './pace.js';
import { type Slot, Slots } from './slots.js';

const FAILED_MS = 1_000;
/** Between two looks for retries, probes and what members want sent again, while there are none. */
const DUE_EVERY_MS = 250;

const FOUND_AT_ONCE = 512;
/** Tenants per look for endpoints that are behind. Each tenant has a limited number of endpoints. */
const TENANTS_AT_ONCE = 128;
const CLAIMED_AT_ONCE = 64;
/** For how many slow endpoints, and for how long, a process remembers that they are slow. */
const MAX_SLOW = 10_000;
const SLOW_FOR_MS = 3_600_000;

/** Shared by all flights: creating a reason for each would cost more than ending it. */
const FLIGHT_OVER = new Error('the flight is over');

/** A separate run continues while there is something to send, then leaves the endpoint to the next round. */
const RUN = {
  maxMs: 30_000,
  lookOnMs: 500,
  leavesRest: true,
  heartbeat: () => undefined,
  isWorkflow: false,
} as const;

/**
 * The senders of one worker process. They look for endpoints with something due, take them by lease, send straight from the log and
 * store the results, many endpoints in one transaction. Any number of processes can do so side by side, whether Temporal is there
 * or not. (docs/architecture.md, Events and webhooks)
 */
export class Senders {
  private readonly stopping = new AbortController();
  private readonly news = new News();
  private readonly slots: Slots;
  private readonly pace: Pace;
  /** Endpoints that this process is sending to. */
  private readonly own = new Set<Uuid>();
  private readonly running = new Set<Promise<void>>();
  /** Endpoints whose last attempt by this process took `PROMPT_MS` or longer, with any result. */
  private readonly slow = new Recent<true>(MAX_SLOW, SLOW_FOR_MS);
  private readonly deps: WebhookDeps;
  private isDueFirst = false;
  private lookedForDueAt = Number.NEGATIVE_INFINITY;
  /** An endpoint was left for which more has come. */
  private isAwaited = false;
  private rounds: Promise<void> = Promise.resolve();
  private readonly rest = new Pause();
  /** Over as well once more has come for an endpoint that was left. */
  private readonly idle = new Pause();

  /** `slots`: endpoints at a time, and as many slow ones again. */
  constructor(
    deps: WebhookDeps,
    slots: number,
    private readonly random: Random = Math.random,
    pauses = PAUSES,
  ) {
    const { observer } = deps;
    const attempted: typeof observer.attempted = (attempt) => {
      const { endpointId } = attempt.delivery;
      if (attempt.result.durationMs < PROMPT_MS) this.slow.delete(endpointId);
      else this.slow.set(endpointId, true, performance.now());
      observer.attempted(attempt);
    };
    this.deps = { ...deps, observer: { ...observer, attempted } };
    setMaxListeners(0, this.stopping.signal);
    this.slots = new Slots(slots);
    this.pace = new Pace(pauses);
  }

  start(): void {
    this.rounds = this.run();
  }

  /** Begins nothing more; resolves when everything in flight has been stored. */
  async stop(): Promise<void> {
    this.stopping.abort();
    this.rest.close();
    this.idle.close();
    await this.rounds;
    await Promise.all(this.running);
  }

  private async run(): Promise<void> {
    while (!this.stopping.signal.aborted) {
      let pause = { atLeastMs: FAILED_MS, atMostMs: FAILED_MS };
      try {
        const { isBusy, lookedMs } = await this.round();
        pause = this.pace.after(isBusy, lookedMs);
      } catch (fault) {
        this.deps.observer.failed(fault);
      }
      await this.rest.for(pause.atLeastMs);
      const moreMs = pause.atMostMs - pause.atLeastMs;
      if (moreMs > 0 && !this.isAwaited) await this.idle.for(moreMs);
    }
  }

  /** Returns whether anything was started, and how long the look took. */
  private async round(): Promise<{ readonly isBusy: boolean; readonly lookedMs: number }> {
    this.isAwaited = false;
    const began = performance.now();
    const { database, clock } = this.deps;
    const room = this.room();
    if (room.well === 0) return { isBusy: false, lookedMs: 0 };
    const now = clock();
    const [tenantIds, due] = await Promise.all([
      this.news.look(database.reader, now),
      this.due(now, room),
    ]);
    const choice = new Choice(room, (id) => this.isSlow(id));
    // They take turns, so that neither takes all the room forever.
    this.isDueFirst = !this.isDueFirst;
    try {
      if (this.isDueFirst) choice.take(due);
      await this.takeNews(tenantIds, choice, now);
      choice.take(due);
      const chosen = choice.all;
      const lookedMs = performance.now() - began;
      for (
        let from = 0;
        from < chosen.length && !this.stopping.signal.aborted;
        from += CLAIMED_AT_ONCE
      )
        await this.begin(chosen.slice(from, from + CLAIMED_AT_ONCE));
      return { isBusy: chosen.length > 0, lookedMs };
    } catch (fault) {
      // Some of what was considered done is not being handled. What is due stays due.
      for (const tenantId of tenantIds) this.news.lookAgain(tenantId);
      throw fault;
    }
  }

  private async due(now: Instant, room: Room): Promise<readonly Candidate[]> {
    const began = performance.now();
    if (began - this.lookedForDueAt < DUE_EVERY_MS) return [];
    // The query cannot tell slow endpoints from healthy ones, so the limit leaves room for both.
    const due = await endpointsDue(this.deps.database.reader, now, {
      ...room,
      well: room.well + this.slow.size,
    });
    if (due.length === 0) this.lookedForDueAt = began;
    return due;
  }

  private isSlow(id: Uuid): boolean {
    return this.slow.get(id, performance.now()) === true;
  }

  private room(): Room {
    const { room, longRoom } = this.slots;
    return { well: Math.min(room, FOUND_AT_ONCE), failing: Math.min(longRoom, FOUND_AT_ONCE) };
  }

  /** Takes the longest waiting tenants first, a few at a time, each with all its endpoints. */
  private async takeNews(tenantIds: readonly Uuid[], choice: Choice, now: Instant): Promise<void> {
    const { reader } = this.deps.database;
    for (let from = 0; from < tenantIds.length && !choice.isFull; from += TENANTS_AT_ONCE) {
      const some = tenantIds.slice(from, from + TENANTS_AT_ONCE);
      const behind = groupBy(
        await endpointsWithNews(reader, some, now),
        ({ tenantId }) => tenantId,
      );
      await this.putOff([...behind.values()].flat(), now);
      for (const tenantId of some) this.takeOf(tenantId, behind.get(tenantId) ?? [], choice);
    }
  }

  /** Makes probed endpoints due at their probe, however late the retry that they wait for. */
  private async putOff(behind: readonly Candidate[], now: Instant): Promise<void> {
    const late = behind.filter(({ isProbed, isBusy }) => isProbed && !isBusy).map(({ id }) => id);
    if (late.length > 0)
      await transact(this.deps.database, (transaction) => makeDue(transaction, late, now));
  }

  /** A tenant with anything left is examined again: before the others if everything is left, after them if not. */
  private takeOf(tenantId: Uuid, behind: readonly Candidate[], choice: Choice): void {
    choice.take(behind.filter(({ isBusy, isProbed }) => !isBusy && !isProbed));
    const isLeft = behind.some(({ id, isBusy, isProbed }) =>
      // What this process itself is sending to is examined when that ends.
      isBusy ? !this.own.has(id) : !isProbed && !choice.has(id),
    );
    if (isLeft && !behind.some(({ id }) => choice.has(id))) return;
    this.news.done(tenantId);
    if (isLeft) this.news.lookAgain(tenantId);
  }

  private async begin(candidates: readonly Candidate[]): Promise<void> {
    const { database, clock } = this.deps;
    const claimed = await transact(database, (transaction) =>
      claim(transaction, candidates, clock()),
    );
    const ids = new Set(claimed.map(({ state }) => state.endpoint.id));
    for (const { id, tenantId } of candidates) if (!ids.has(id)) this.news.lookAgain(tenantId);
    if (claimed.length === 0) return;
    const light = await this.lightWork(claimed);
    for (const { state } of claimed) this.track(state, light.get(state.endpoint.id));
  }

  /** If one tenant's events cannot be read here, each endpoint gets its own run: that one fails, and the others do not. */
  private async lightWork(claimed: readonly Claimed[]): Promise<ReadonlyMap<Uuid, Wanted>> {
    const { database, clock } = this.deps;
    try {
      return await lightWork(database.reader, claimed, clock());
    } catch (failure) {
      if (isOfOne(failure)) return new Map();
      throw failure;
    }
  }

  private track(state: EndpointState, wanted: Wanted | undefined): void {
    const { id, tenantId } = state.endpoint;
    this.own.add(id);
    const left = (head: bigint | null): void => {
      this.own.delete(id);
      this.running.delete(running);
      // It may have left something that is due.
      this.lookedForDueAt = Number.NEGATIVE_INFINITY;
      if (head !== null && !this.news.isBeyond(tenantId, head)) return;
      this.news.lookAgain(tenantId);
      this.isAwaited = true;
      this.idle.end();
    };
    const running = this.send(state, wanted).then(left, (fault: unknown) => {
      this.deps.observer.failed(fault);
      left(null);
    });
    this.running.add(running);
  }

  /** Returns the log's last event when the endpoint was left; null: look again. */
  private async send(state: EndpointState, wanted: Wanted | undefined): Promise<bigint | null> {
    const slot = this.slots.enter();
    if (state.endpoint.failuresInRow > 0 || this.isSlow(state.endpoint.id)) slot.takesLong();
    this.deps.observer.sending(...this.slots.taken);
    try {
      return await (wanted === undefined ? this.drain(state, slot) : this.fly(wanted, slot));
    } finally {
      slot.leave();
      this.deps.observer.sending(...this.slots.taken);
    }
  }

  private async fly(wanted: Wanted, slot: Slot): Promise<bigint | null> {
    const flight = new Flight(this.deps, wanted);
    try {
      await flight.landed();
      const { ended, left, untried } = flight.take();
      const { through, state } = wanted;
      const goesOn = left.length > 0;
      const landed = {
        run: state.endpoint,
        through,
        ended,
        untried,
        goesOn,
        isWorkflow: false,
        random: this.random,
      };
      // Whatever is not stored is sent again when the lease ends.
      const stored = await this.deps.runs.storeFlight(landed);
      if (stored === null) return null;
      if (!goesOn) return isDue(stored.due, this.deps.clock()) ? null : stored.state.head;
      slot.takesLong();
      return await this.drain(stored.state, slot, { sends: flight.sends, left });
    } finally {
      flight.sends.abort(FLIGHT_OVER);
    }
  }

  private async drain(
    state: EndpointState,
    slot: Slot,
    flight?: { readonly sends: AbortController; readonly left: ReturnType<Flight['take']>['left'] },
  ): Promise<null> {
    const timer = setTimeout(() => slot.takesLong(), RUN.lookOnMs);
    try {
      const options = { ...RUN, signal: this.stopping.signal };
      const run = new DrainRun(this.deps, state, options, this.random, flight?.sends);
      run.adopt(flight?.left ?? []);
      await run.run();
      return null;
    } finally {
      clearTimeout(timer);
    }
  }
}

function isDue(due: Instant | null, now: Instant): boolean {
  return due !== null && due <= now;
}
