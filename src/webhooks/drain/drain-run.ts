import type { Uuid } from '../../core/ids.js';
import { type Instant, instant } from '../../core/instant.js';
import { Pause } from '../../core/pause.js';
import type { WebhookEndpoint } from '../../db/entities/webhooks.js';
import type { WebhookDeps } from '../deps.js';
import { type Health, healthAfter, PROMPT_MS, WINDOW, windowOf } from '../rules.js';
import { attempt, type Flying } from './attempting.js';
import { Grip } from './grip.js';
import { type EndpointState, isHeld, TakenOver } from './lease.js';
import { soonest } from './landed.js';
import { isNear } from './near.js';
import { hasMore } from './stepping.js';
import { healthAfterAll, type Outcome } from './outcomes.js';
import type { DrainOptions, DrainResult, Random } from './types.js';
import { MAX_CLAIMED, MAX_RETRIES, Window } from './window.js';

/** How often it looks for what others have made due, both while it sends and when it has nothing to send. */
const LOOK_MS = 250;
const EMPTY_LOOK_MS = 100;
/** While its receiver hangs it looks half as often each time, down to this: hundreds may hang at once. */
const HANGING_LOOK_MS = 2_000;
/** A failed attempt is not an answer, but makes it look about every second again. */
const FAILING_LOOKS = 2;
const HEARTBEAT_MS = 1_000;
/** How long attempts in flight may take after a stop. */
const STOP_MS = 10_000;
/** A new step is taken when this few are left in line. */
const FEW = MAX_CLAIMED / 2;
/** Outcomes that may wait to be stored; beyond this, nothing new is sent. */
const MAX_UNSTORED = 64;

type Ended = DrainResult['ended'];

/** One run. Its loop does all the work with the database; sends that end while it stores form the next group. */
export class DrainRun {
  private readonly grip: Grip;
  private readonly window = new Window();
  private readonly beganAt = performance.now();
  /** Includes outcomes that are not stored yet. */
  private health: Health;
  private outcomes: Outcome[] = [];
  private stored = 0;
  private lookedAt = Number.NEGATIVE_INFINITY;
  /** When to read retries; null: when told to. */
  private retryAt: Instant | null = instant(0);
  /** The endpoint's due time when the line was last read; undefined: never read. */
  private toldDueAt: Instant | null | undefined;
  /** How often it has looked since the last answer, while it waits for one. */
  private vainLooks = 0;
  /** Keeps runs that began to hang together from looking together. */
  private readonly spread: number;
  private hasStepped = false;
  private idleSince: number | null = null;
  private isEnding = false;
  private fault: Error | null = null;
  private readonly pause = new Pause();

  constructor(
    private readonly deps: WebhookDeps,
    private state: EndpointState,
    private readonly options: DrainOptions,
    random: Random,
    private readonly sends = new AbortController(),
  ) {
    this.health = state.endpoint;
    this.spread = 1 - random() / 4;
    this.grip = new Grip(deps, state.endpoint, options.isWorkflow, random);
  }

  /** Takes over attempts that are already in flight and untried according to the table. */
  adopt(flying: Iterable<Flying>): void {
    for (const { delivery, landing } of flying) {
      this.window.adopt(delivery.id);
      void this.land(delivery.id, landing);
    }
  }

  async run(): Promise<{ ended: Ended; attempts: number; nextDueAt: Instant | null }> {
    const { heartbeat, signal } = this.options;
    const beat = setInterval(() => {
      heartbeat();
      this.grip.renewIfDue();
    }, HEARTBEAT_MS);
    const onAbort = (): void => this.pause.end();
    signal.addEventListener('abort', onAbort);
    try {
      const ended = await this.loop();
      await this.finish();
      clearInterval(beat);
      return { ended, attempts: this.stored, nextDueAt: await this.grip.release() };
    } catch (failure) {
      if (failure instanceof TakenOver)
        return { ended: 'taken_over', attempts: this.stored, nextDueAt: null };
      throw failure;
    } finally {
      this.isEnding = true;
      this.sends.abort();
      clearInterval(beat);
      signal.removeEventListener('abort', onAbort);
    }
  }

  private async loop(): Promise<Ended> {
    for (;;) {
      if (this.fault !== null) throw this.fault;
      if (this.outcomes.length > 0) await this.store();
      await this.fill();
      this.pump();
      const ended = this.endedBy();
      if (ended !== null) return ended;
      await this.wait();
    }
  }

  private endedBy(): Ended | null {
    if (this.options.signal.aborted) return 'stopped';
    if (isHeld(this.state.endpoint)) return 'held';
    const now = performance.now();
    if (now - this.beganAt >= this.options.maxMs) return 'time';
    const { pending, retries, onTheWay } = this.window.load;
    if (this.isAlmostThere() && pending + retries + onTheWay + this.outcomes.length === 0)
      return 'idle';
    if (!this.isIdle()) this.idleSince = null;
    else if (now - (this.idleSince ??= now) >= this.options.lookOnMs) return 'idle';
    return null;
  }

  private isIdle(): boolean {
    const { pending, retries, onTheWay } = this.window.load;
    if (onTheWay > 0 || this.outcomes.length > 0) return false;
    // While it is probed, nothing happens before the next probe.
    const { probeAt } = this.health;
    if (probeAt !== null && probeAt > this.deps.clock()) return true;
    return pending + retries === 0 && !hasMore(this.state);
  }

  /** Nothing more may be sent until something comes back. */
  private isStuck(): boolean {
    const { load } = this.window;
    return this.vainLooks > 0 && load.onTheWay >= windowOf(load);
  }

  /** The rest can be sent without rows: this run takes no more, since it might never end while events come. */
  private isAlmostThere(): boolean {
    if (!this.options.leavesRest || !this.hasStepped || this.isProbed()) return false;
    return (
      hasMore(this.state) &&
      isNear(this.state, BigInt(WINDOW)) &&
      this.window.longestMs() < PROMPT_MS
    );
  }

  private isProbed(): boolean {
    return this.health.probeAt !== null;
  }

  private lookMs(): number {
    const { pending, retries, onTheWay } = this.window.load;
    if (pending + retries + onTheWay === 0 || this.idleSince !== null) return EMPTY_LOOK_MS;
    return Math.min(LOOK_MS * 2 ** this.vainLooks, HANGING_LOOK_MS) * this.spread;
  }

  /** Waits until something ends, or it is time to look. */
  private async wait(): Promise<void> {
    if (this.outcomes.length > 0) return;
    await this.pause.for(Math.max(1, this.lookedAt + this.lookMs() - performance.now()));
  }

  /** Moves the cursor when few are in line; looks for other work when it is time. */
  private async fill(): Promise<void> {
    if (performance.now() - this.lookedAt >= this.lookMs()) await this.look();
    const { pending, retries } = this.window.load;
    if (isHeld(this.state.endpoint) || !hasMore(this.state) || this.isAlmostThere()) return;
    const isShort = this.isProbed() ? pending + retries === 0 : pending < FEW && !this.isStuck();
    if (isShort && this.window.pendingRoom > 0) await this.step();
  }

  private async look(): Promise<void> {
    this.lookedAt = performance.now();
    this.vainLooks = this.window.load.onTheWay === 0 ? 0 : this.vainLooks + 1;
    this.see(await this.grip.look());
    if (!isHeld(this.state.endpoint)) await this.readLines(this.state.endpoint);
  }

  /** More than there is room for, since those it has are among them. What did not fit is read again. */
  private async readLines(endpoint: WebhookEndpoint): Promise<void> {
    // Anything that makes a delivery due also sets the endpoint's time.
    const isTold = endpoint.nextDueAt !== this.toldDueAt;
    const now = this.deps.clock();
    if (isTold) this.retryAt = now;
    const isTime = this.retryAt !== null && this.retryAt <= now;
    const { pendingRoom, retryRoom } = this.window;
    const read = async (lane: 'pending' | 'retrying', most: number): Promise<boolean> => {
      const due = await this.grip.readDue(endpoint, lane, most);
      this.window.add(due);
      return due.length < most;
    };
    if (isTold && pendingRoom >= FEW && (await read('pending', MAX_CLAIMED)))
      this.toldDueAt = endpoint.nextDueAt;
    if (isTime && retryRoom >= FEW / 2 && (await read('retrying', MAX_RETRIES)))
      this.retryAt = await this.grip.earliestRetry(now);
  }

  /** Combines the stored state with what only this run knows. */
  private see(state: EndpointState): void {
    this.state = state;
    this.health = healthAfterAll(state.endpoint, this.outcomes);
  }

  private async step(): Promise<void> {
    const { state, added, madeDue } = await this.grip.step(this.state, this.window.pendingRoom);
    this.hasStepped = true;
    this.see(state);
    this.window.add(added);
    if (!madeDue) return;
    this.retryAt = this.deps.clock();
    this.lookedAt = Number.NEGATIVE_INFINITY;
  }

  private async store(): Promise<void> {
    const group = this.outcomes;
    this.outcomes = [];
    const { state, retryAt } = await this.grip.store(group);
    this.retryAt = soonest([this.retryAt, retryAt]);
    this.stored += group.filter(({ result }) => result !== null).length;
    for (const { delivery } of group) this.window.forget(delivery.id);
    this.see(state);
  }

  private pump(): void {
    while (!this.isEnding && !this.options.signal.aborted && this.outcomes.length < MAX_UNSTORED) {
      if (performance.now() - this.beganAt >= this.options.maxMs || isHeld(this.state.endpoint))
        return;
      const taken = this.window.take(this.health, this.deps.clock());
      if (taken === null) return;
      const { open, isProbe } = taken;
      void this.land(
        open.delivery.id,
        attempt(this.deps, this.state, open, isProbe, this.sends.signal),
      );
    }
  }

  private async land(id: Uuid, landing: Promise<Outcome | null>): Promise<void> {
    let isAnswered = false;
    try {
      const outcome = await landing;
      if (outcome === null) this.window.forget(id);
      else {
        this.outcomes.push(outcome);
        isAnswered = outcome.result?.outcome === 'answered';
        if (outcome.result !== null)
          this.health = healthAfter(this.health, outcome.result, outcome.isProbe, outcome.endedAt);
      }
    } catch (fault) {
      this.fault ??= fault instanceof Error ? fault : new Error(String(fault));
    }
    this.vainLooks = isAnswered ? 0 : Math.min(this.vainLooks, FAILING_LOOKS);
    this.window.landed(id, isAnswered);
    this.pump();
    this.pause.end();
  }

  /** Starts nothing new; awaits and stores what is in flight. */
  private async finish(): Promise<void> {
    this.isEnding = true;
    this.window.clearLine();
    const cut = setTimeout(() => this.sends.abort(), STOP_MS);
    try {
      while (this.window.load.onTheWay > 0 || this.outcomes.length > 0) {
        if (this.fault !== null) throw this.fault;
        if (this.outcomes.length > 0) await this.store();
        else {
          this.lookedAt = performance.now();
          await this.wait();
        }
      }
    } finally {
      clearTimeout(cut);
    }
  }
}
