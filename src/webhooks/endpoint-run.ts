import { setTimeout as sleep } from 'node:timers/promises';
import { failpoint } from '../core/failpoints.js';
import type { Uuid } from '../core/ids.js';
import { Pause } from '../core/timers.js';
import type { WebhookDeps } from './deps.js';
import { type EndpointState, isHeld, isSubscribedType } from './endpoint-claims.js';
import type { OpenDelivery } from './event-reader.js';
import {
  healthAfterAll,
  type Outcome,
  type RunResults,
  type StoredResults,
} from './delivery-store.js';
import {
  type Health,
  wasCanceled,
  MAX_RUN_MS,
  nextLane,
  PROMPT_MS,
  SILENT_MS,
  windowOf,
} from './rules.js';
import { sendMessage } from './sender.js';

/** The longest wait for an attempt in flight before new work is read. */
const READ_AGAIN_MS = 2_000;
/** How long attempts in flight may take after a stop. */
const STOP_MS = 10_000;
/** Attempts that end within this time are stored together. */
const GATHER_MS = 5;

interface RunningAttempt {
  readonly open: OpenDelivery;
  readonly turn: number;
}

/**
 * Sends to one claimed endpoint in turns of at most `PROMPT_MS`, and stores the results of each.
 * Slower attempts stay in flight, with rows. Each store extends the claim.
 */
export class EndpointRun {
  private readonly sends = new AbortController();
  private readonly inFlight = new Map<Uuid, RunningAttempt>();
  private readonly beganAt = performance.now();
  private turns = 0;
  private pending: OpenDelivery[] = [];
  private retries: OpenDelivery[] = [];
  /** How far this turn read the log; null if it did not. */
  private through: bigint | null = null;
  private ended: Outcome[] = [];
  /** Deliveries cut off by a stop. They get rows, so that they are sent again. */
  private cutOff: OpenDelivery[] = [];
  private health: Health;
  private mayBegin = false;
  /** Time of the last response, or when the first attempt in flight began. */
  private answeredAt = performance.now();
  private fault: Error | null = null;
  private readonly pause = new Pause();

  /** Begins no attempt once `signal` is aborted. Calls `onSlow` when a turn exceeds `PROMPT_MS`. */
  constructor(
    private readonly deps: WebhookDeps,
    private state: EndpointState,
    private readonly signal: AbortSignal,
    private readonly onSlow: () => void = () => undefined,
  ) {
    this.health = state.endpoint;
  }

  async run(): Promise<StoredResults | null> {
    const onStop = (): void => void setTimeout(() => this.sends.abort(), STOP_MS).unref();
    this.signal.addEventListener('abort', onStop);
    if (this.signal.aborted) onStop();
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
      this.signal.removeEventListener('abort', onStop);
    }
  }

  private async turn(): Promise<StoredResults | null> {
    this.turns += 1;
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
    return this.inFlight.size < windowOf(this.health, this.isSilent());
  }

  private async read(): Promise<boolean> {
    const { store } = this.deps;
    const { endpoint } = this.state;
    let work = await store.read(this.state);
    const isUnknown = ({ delivery }: OpenDelivery): boolean => !this.isKnown(delivery.id);
    if (endpoint.recoverAfter !== null && !work.pending.some(isUnknown)) {
      const recovered = await store.recover(endpoint);
      if (recovered === null) return false;
      this.state = recovered;
      work = await store.read(recovered);
    }
    const pending = work.pending.filter(isUnknown);
    this.retries = work.retries.filter(isUnknown);
    this.pending = [...pending, ...work.events];
    this.through = work.through;
    return true;
  }

  /** True for a delivery that is in flight, or that ended and is not stored yet. */
  private isKnown(id: Uuid): boolean {
    return this.inFlight.has(id) || this.ended.some(({ open }) => open.delivery.id === id);
  }

  private isSilent(): boolean {
    return this.inFlight.size > 0 && performance.now() - this.answeredAt >= SILENT_MS;
  }

  private begin(): void {
    while (this.mayBegin && !this.signal.aborted) {
      const { pending, retries, inFlight } = this;
      const lane = nextLane(
        {
          pending: pending.length,
          retries: retries.length,
          inFlight: inFlight.size,
          retriesInFlight: [...inFlight.values()].filter(
            ({ open }) => open.delivery.state === 'retrying',
          ).length,
          isSilent: this.isSilent(),
        },
        this.health,
        this.deps.clock(),
      );
      if (lane === null) return;
      const isRetry = lane === 'probe' ? this.isRetryOldest() : lane === 'retries';
      const open = (isRetry ? retries : pending).shift();
      if (open === undefined) return;
      if (inFlight.size === 0) this.answeredAt = performance.now();
      inFlight.set(open.delivery.id, { open, turn: this.turns });
      void this.send(open, lane === 'probe');
    }
  }

  private isRetryOldest(): boolean {
    const [pending, retry] = [this.pending[0]?.delivery, this.retries[0]?.delivery];
    if (pending === undefined || retry === undefined) return pending === undefined;
    return (retry.nextAttemptAt ?? 0) <= (pending.nextAttemptAt ?? 0);
  }

  private async send(open: OpenDelivery, isProbe: boolean): Promise<void> {
    try {
      const outcome = await this.attempt(open, isProbe);
      if (outcome === null) {
        this.mayBegin = false;
        this.cutOff.push(open);
      } else {
        this.ended.push(outcome);
        this.health = healthAfterAll(this.health, [outcome]);
        if (outcome.result?.outcome === 'answered') this.answeredAt = performance.now();
        // New failures count from a stored failure, so it is stored first.
        if (this.health.failuresInRow > 0) this.mayBegin = false;
      }
    } catch (fault) {
      this.mayBegin = false;
      this.fault ??= fault instanceof Error ? fault : new Error(String(fault));
    }
    this.inFlight.delete(open.delivery.id);
    this.begin();
    this.pause.end();
  }

  /** Returns null if the attempt was cut off, which does not count. */
  private async attempt(open: OpenDelivery, isProbe: boolean): Promise<Outcome | null> {
    const { clock, observer } = this.deps;
    const { endpoint, types } = this.state;
    const { delivery, body, traceparent } = open;
    if (body === null || !isSubscribedType(types, delivery.eventType))
      return { open, result: null };
    const beganAt = clock();
    failpoint('before_send');
    const message = { id: delivery.eventId, body, traceparent };
    const result = await sendMessage(this.deps, endpoint, message, beganAt, this.sends.signal);
    failpoint('after_send');
    if (wasCanceled(result)) return null;
    observer.attempted({ delivery, result, beganAt });
    return { open, result, isProbe, beganAt, endedAt: clock() };
  }

  /** A turn that began no attempt waits for an earlier one, or until new work is to be read. */
  private async wait(): Promise<void> {
    const isBusy = !this.hasTurnEnded();
    const until = performance.now() + (isBusy ? PROMPT_MS : READ_AGAIN_MS);
    while (this.inFlight.size > 0 && this.fault === null) {
      const leftMs = until - performance.now();
      if (leftMs <= 0) return this.onSlow();
      if (isBusy ? this.hasTurnEnded() : this.ended.length > 0) return;
      await this.pause.for(leftMs);
    }
  }

  private hasTurnEnded(): boolean {
    return ![...this.inFlight.values()].some(({ turn }) => turn === this.turns);
  }

  private async store(): Promise<StoredResults | null> {
    if (this.inFlight.size > 0 && this.ended.length > 0) await sleep(GATHER_MS);
    const begun = [
      ...Array.from(this.inFlight.values(), ({ open }) => open),
      ...this.cutOff,
    ].filter(({ hasRow }) => !hasRow);
    const next = this.pending.find(({ hasRow }) => !hasRow)?.delivery.sequence ?? null;
    const results: RunResults = {
      claim: this.state.endpoint,
      through: next === null || this.through === null ? this.through : next - 1n,
      ended: this.ended,
      begun: begun.map(({ delivery }) => delivery),
      then: this.inFlight.size > 0 ? 'keep' : this.mustEnd() ? 'release' : 'release_if_done',
    };
    [this.ended, this.cutOff, this.pending, this.retries] = [[], [], [], []];
    this.through = null;
    const stored = await this.deps.store.store(results);
    for (const open of begun) open.hasRow = true;
    return stored;
  }

  private mustEnd(): boolean {
    return this.signal.aborted || performance.now() - this.beganAt >= MAX_RUN_MS;
  }
}
