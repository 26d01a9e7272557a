import type { Uuid } from '../core/ids.js';
import { Pause } from '../core/pause.js';
import type { WebhookDeps } from './deps.js';
import { type EndpointState, isHeld, isSubscribedType } from './endpoint-claims.js';
import type { EndpointSlots } from './endpoint-slots.js';
import { type OpenDelivery, readWork } from './event-reader.js';
import { healthAfterAll, type Outcome, type StoredResults } from './delivery-store.js';
import { type Health, isCutOff, MAX_RUN_MS, nextLane, PROMPT_MS, WINDOW } from './rules.js';
import { sendMessage } from './sender.js';

/**
 * Pause before new work is read while only slow attempts are in flight. Shorter than a claim, which
 * each store extends.
 */
const READ_AGAIN_MS = 1_000;

/**
 * Sends to one claimed endpoint in turns of at most `PROMPT_MS`, and stores the results of each.
 * Slower attempts stay in flight, with rows. Each store extends the claim.
 */
export class EndpointRun {
  private readonly sends = new AbortController();
  private readonly inFlight = new Map<Uuid, OpenDelivery>();
  private readonly beganAt = performance.now();
  private turns = 0;
  /** Attempts of this turn that are in flight. */
  private sending = 0;
  private pending: OpenDelivery[] = [];
  private retries: OpenDelivery[] = [];
  /** How far this turn read the log; null if it did not. */
  private through: bigint | null = null;
  private ended: Outcome[] = [];
  /** Deliveries cut off by a stop. They get rows, so that they are sent again. */
  private cutOff: OpenDelivery[] = [];
  private health: Health;
  private mayBegin = false;
  private fault: Error | null = null;
  private readonly pause = new Pause();

  /** Begins no attempt once `signal` is aborted. Attempts in flight end within their time limit. */
  constructor(
    private readonly deps: WebhookDeps,
    private state: EndpointState,
    private readonly signal: AbortSignal,
    private readonly slots: EndpointSlots,
  ) {
    this.health = state.endpoint;
  }

  /** Returns null if another run has the endpoint. */
  async run(): Promise<StoredResults | null> {
    try {
      for (;;) {
        const stored = await this.turn();
        if (stored === null || stored.isReleased) return stored;
        this.state = stored;
        this.health = healthAfterAll(stored.endpoint, this.ended);
      }
    } finally {
      this.mayBegin = false;
      this.sends.abort();
    }
  }

  private async turn(): Promise<StoredResults | null> {
    this.turns += 1;
    this.sending = 0;
    if (this.hasRoom()) {
      if (!(await this.read())) return null;
      this.mayBegin = true;
      this.begin();
    }
    await this.wait();
    this.mayBegin = false;
    if (this.fault !== null) throw this.fault;
    return this.store();
  }

  private hasRoom(): boolean {
    if (this.mustEnd() || isHeld(this.state.endpoint)) return false;
    if (this.health.probeAt !== null)
      return this.inFlight.size === 0 && this.health.probeAt <= this.deps.clock();
    return this.inFlight.size < WINDOW;
  }

  private async read(): Promise<boolean> {
    const { store, database, clock } = this.deps;
    const { endpoint } = this.state;
    let work = await readWork(database.reader, this.state, clock());
    if (endpoint.recoverAfter !== null && !work.pending.some(this.isNew)) {
      const recovered = await store.recover(endpoint);
      if (recovered === null) return false;
      this.state = recovered;
      work = await readWork(database.reader, recovered, clock());
    }
    this.retries = work.retries.filter(this.isNew);
    this.pending = [...work.pending.filter(this.isNew), ...work.events];
    this.through = work.through;
    return true;
  }

  /** False for a delivery that is in flight, or that ended and is not stored yet. */
  private readonly isNew = ({ delivery: { id } }: OpenDelivery): boolean =>
    !this.inFlight.has(id) && !this.ended.some(({ open }) => open.delivery.id === id);

  private begin(): void {
    while (this.mayBegin && !this.signal.aborted) {
      const { pending, retries, inFlight } = this;
      const retrying = [...inFlight.values()].filter(
        ({ delivery }) => delivery.state === 'retrying',
      );
      const load = {
        pending: pending.length,
        retries: retries.length,
        inFlight: inFlight.size,
        retriesInFlight: retrying.length,
      };
      const lane = nextLane(load, this.health, this.deps.clock());
      if (lane === null) return;
      const isRetry = lane === 'probe' ? this.isRetryOldest() : lane === 'retries';
      const open = (isRetry ? retries : pending).shift();
      if (open === undefined) return;
      void this.send(open, lane === 'probe');
    }
  }

  private isRetryOldest(): boolean {
    const [pending, retry] = [this.pending[0]?.delivery, this.retries[0]?.delivery];
    if (pending === undefined || retry === undefined) return pending === undefined;
    return (retry.nextAttemptAt ?? 0) <= (pending.nextAttemptAt ?? 0);
  }

  private async send(open: OpenDelivery, isProbe: boolean): Promise<void> {
    const turn = this.turns;
    this.inFlight.set(open.delivery.id, open);
    this.sending += 1;
    try {
      const outcome = await this.attempt(open, isProbe);
      if (outcome === null) {
        this.mayBegin = false;
        this.cutOff.push(open);
      } else {
        this.ended.push(outcome);
        this.health = healthAfterAll(this.health, [outcome]);
        // New failures count from a stored failure, so it is stored first.
        if (this.health.failuresInRow > 0) this.mayBegin = false;
      }
    } catch (fault) {
      this.mayBegin = false;
      this.fault ??= fault instanceof Error ? fault : new Error(String(fault));
    }
    this.inFlight.delete(open.delivery.id);
    if (turn === this.turns) this.sending -= 1;
    this.begin();
    this.pause.end();
  }

  /** Returns null if the attempt was cut off, which does not count. */
  private async attempt(open: OpenDelivery, isProbe: boolean): Promise<Outcome | null> {
    const { failpoints, clock, observer } = this.deps;
    const { endpoint, types } = this.state;
    const { delivery, body, traceparent } = open;
    const beganAt = clock();
    if (body === null || !isSubscribedType(types, delivery.eventType))
      return { open, result: null, isProbe, beganAt, endedAt: beganAt };
    failpoints.pass('before_send');
    const message = { id: delivery.eventId, body, traceparent };
    const result = await sendMessage(this.deps, endpoint, message, beganAt, this.sends.signal);
    failpoints.pass('after_send');
    if (isCutOff(result)) return null;
    this.slots.attempted(endpoint.id, result.durationMs);
    observer.attempted({ delivery, result, beganAt });
    return { open, result, isProbe, beganAt, endedAt: clock() };
  }

  /** A turn that began no attempt waits for an earlier one, or until new work is to be read. */
  private async wait(): Promise<void> {
    const isBusy = this.sending > 0;
    const until = performance.now() + (isBusy ? PROMPT_MS : READ_AGAIN_MS);
    while (this.inFlight.size > 0 && this.fault === null) {
      if (isBusy ? this.sending === 0 : this.ended.length > 0) return;
      const leftMs = until - performance.now();
      if (leftMs <= 0) return this.slots.becomesSlow(this.state.endpoint.id);
      await this.pause.for(leftMs);
    }
  }

  private async store(): Promise<StoredResults | null> {
    const { ended } = this;
    const begun = [...this.inFlight.values(), ...this.cutOff].filter(({ hasRow }) => !hasRow);
    for (const open of begun) open.hasRow = true;
    const next = this.pending.find(({ hasRow }) => !hasRow)?.delivery.sequence ?? null;
    const through = next === null || this.through === null ? this.through : next - 1n;
    [this.ended, this.cutOff, this.pending, this.retries] = [[], [], [], []];
    this.through = null;
    return this.deps.store.store({
      claim: this.state.endpoint,
      through,
      ended,
      begun: begun.map(({ delivery }) => delivery),
      then: this.inFlight.size > 0 ? 'keep' : this.mustEnd() ? 'release' : 'release_if_done',
    });
  }

  private mustEnd(): boolean {
    return this.signal.aborted || performance.now() - this.beganAt >= MAX_RUN_MS;
  }
}
