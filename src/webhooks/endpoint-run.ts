import { setTimeout as sleep } from 'node:timers/promises';
import { failpoint } from '../core/failpoints.js';
import type { Uuid } from '../core/ids.js';
import { Pause } from '../core/timers.js';
import type { WebhookDeps } from './deps.js';
import { type EndpointState, mayReceive, isSubscribedType } from './endpoint-state.js';
import type { OpenDelivery } from './event-reader.js';
import {
  healthAfterAll,
  type DeliveryOutcome,
  type RunResults,
  type StoredResults,
} from './delivery-store.js';
import {
  type Health,
  wasCanceled,
  MAX_RUN_MS,
  nextAttemptKind,
  SLOW_AFTER_MS,
  SILENT_AFTER_MS,
  maxInFlight,
} from './rules.js';
import { sendMessage } from './sender.js';

/** How long a turn without new attempts waits for an earlier attempt, before the next turn. */
const MAX_WAIT_MS = 2_000;
/** How long attempts in flight may continue after a stop, before they are canceled. */
const STOP_GRACE_MS = 10_000;
/** Attempts that end within this time are stored together. */
const GATHER_MS = 5;

interface RunningAttempt {
  readonly open: OpenDelivery;
  readonly turn: number;
}

/**
 * Sends to one claimed endpoint in turns of at most `SLOW_AFTER_MS`. Each turn ends by storing its
 * results, which extends the claim. Slower attempts stay in flight, with rows.
 */
export class EndpointRun {
  private readonly cancelSends = new AbortController();
  private readonly inFlight = new Map<Uuid, RunningAttempt>();
  private readonly beganAt = performance.now();
  private turnNumber = 0;
  private pending: OpenDelivery[] = [];
  private retries: OpenDelivery[] = [];
  /** The last sequence of the log that this turn has read; null if it read none. */
  private readThrough: bigint | null = null;
  private outcomes: DeliveryOutcome[] = [];
  /** Deliveries canceled by a stop. They get rows, so that another run sends them. */
  private canceled: OpenDelivery[] = [];
  private health: Health;
  private maySend = false;
  /** Time of the last response, or when the first attempt in flight began. */
  private lastAnswerAt = performance.now();
  private fault: Error | null = null;
  private readonly pause = new Pause();

  /** Starts no attempt once `signal` is aborted. Calls `onSlow` when a turn is slow. */
  constructor(
    private readonly deps: WebhookDeps,
    private state: EndpointState,
    private readonly signal: AbortSignal,
    private readonly onSlow: () => void = () => undefined,
  ) {
    this.health = state.endpoint;
  }

  /** Returns the released endpoint's state, or null if another run has claimed the endpoint. */
  async run(): Promise<StoredResults | null> {
    const onStop = (): void =>
      void setTimeout(() => this.cancelSends.abort(), STOP_GRACE_MS).unref();
    this.signal.addEventListener('abort', onStop);
    if (this.signal.aborted) onStop();
    try {
      for (;;) {
        const stored = await this.turn();
        if (stored === null || stored.isReleased) return stored;
        this.state = stored;
        this.health = healthAfterAll(stored.endpoint, this.outcomes);
      }
    } finally {
      this.maySend = false;
      this.cancelSends.abort();
      this.signal.removeEventListener('abort', onStop);
    }
  }

  private async turn(): Promise<StoredResults | null> {
    this.turnNumber += 1;
    if (this.mayStart()) {
      if (!(await this.read())) return null;
      this.maySend = true;
      this.sendNext();
    }
    await this.wait();
    this.maySend = false;
    if (this.fault !== null) throw this.fault;
    return this.store();
  }

  private mayStart(): boolean {
    if (this.mustEnd() || !mayReceive(this.state.endpoint)) return false;
    if (this.health.probeAt !== null)
      return this.inFlight.size === 0 && this.health.probeAt <= this.deps.clock();
    return this.inFlight.size < maxInFlight(this.health, this.isSilent());
  }

  /** Returns false if another run has claimed the endpoint. */
  private async read(): Promise<boolean> {
    const { store } = this.deps;
    const { endpoint } = this.state;
    let work = await store.read(this.state);
    const isNew = ({ delivery }: OpenDelivery): boolean => !this.isInRun(delivery.id);
    if (endpoint.recoverAfter !== null && !work.pending.some(isNew)) {
      const recovered = await store.continueRecovery(endpoint);
      if (recovered === null) return false;
      this.state = recovered;
      work = await store.read(recovered);
    }
    const pending = work.pending.filter(isNew);
    this.retries = work.retries.filter(isNew);
    this.pending = [...pending, ...work.events];
    this.readThrough = work.through;
    return true;
  }

  /** Returns whether the delivery is in flight, or has ended but is not stored yet. */
  private isInRun(id: Uuid): boolean {
    return this.inFlight.has(id) || this.outcomes.some(({ open }) => open.delivery.id === id);
  }

  private isSilent(): boolean {
    return this.inFlight.size > 0 && performance.now() - this.lastAnswerAt >= SILENT_AFTER_MS;
  }

  private sendNext(): void {
    while (this.maySend && !this.signal.aborted) {
      const { pending, retries, inFlight } = this;
      const kind = nextAttemptKind(
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
      if (kind === null) return;
      const isRetry = kind === 'probe' ? this.isRetryOldest() : kind === 'retry';
      const open = (isRetry ? retries : pending).shift();
      if (open === undefined) return;
      if (inFlight.size === 0) this.lastAnswerAt = performance.now();
      inFlight.set(open.delivery.id, { open, turn: this.turnNumber });
      void this.send(open, kind === 'probe');
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
        this.maySend = false;
        this.canceled.push(open);
      } else {
        this.outcomes.push(outcome);
        this.health = healthAfterAll(this.health, [outcome]);
        if (outcome.result?.outcome === 'answered') this.lastAnswerAt = performance.now();
        // A failure is stored before the next attempt, because it changes the endpoint's health.
        if (this.health.failuresInRow > 0) this.maySend = false;
      }
    } catch (fault) {
      this.maySend = false;
      this.fault ??= fault instanceof Error ? fault : new Error(String(fault));
    }
    this.inFlight.delete(open.delivery.id);
    this.sendNext();
    this.pause.end();
  }

  /** Returns null if a stop canceled the attempt, which then does not count. */
  private async attempt(open: OpenDelivery, isProbe: boolean): Promise<DeliveryOutcome | null> {
    const { clock, observer } = this.deps;
    const { endpoint, types } = this.state;
    const { delivery, body, traceparent } = open;
    if (body === null || !isSubscribedType(types, delivery.eventType))
      return { open, result: null };
    const beganAt = clock();
    failpoint('before_send');
    const message = { id: delivery.eventId, body, traceparent };
    const result = await sendMessage(
      this.deps,
      endpoint,
      message,
      beganAt,
      this.cancelSends.signal,
    );
    failpoint('after_send');
    if (wasCanceled(result)) return null;
    observer.attempted({ delivery, result, beganAt });
    return { open, result, isProbe, beganAt, endedAt: clock() };
  }

  /** Waits for this turn's attempts, or for any attempt in flight if the turn started none. */
  private async wait(): Promise<void> {
    const startedAny = this.hasOwnInFlight();
    const until = performance.now() + (startedAny ? SLOW_AFTER_MS : MAX_WAIT_MS);
    while (this.inFlight.size > 0 && this.fault === null) {
      const leftMs = until - performance.now();
      if (leftMs <= 0) return this.onSlow();
      if (startedAny ? !this.hasOwnInFlight() : this.outcomes.length > 0) return;
      await this.pause.for(leftMs);
    }
  }

  private hasOwnInFlight(): boolean {
    return [...this.inFlight.values()].some(({ turn }) => turn === this.turnNumber);
  }

  private async store(): Promise<StoredResults | null> {
    if (this.inFlight.size > 0 && this.outcomes.length > 0) await sleep(GATHER_MS);
    const unfinished = [
      ...Array.from(this.inFlight.values(), ({ open }) => open),
      ...this.canceled,
    ].filter(({ hasRow }) => !hasRow);
    const unsent = this.pending.find(({ hasRow }) => !hasRow)?.delivery.sequence ?? null;
    const results: RunResults = {
      claim: this.state.endpoint,
      through: unsent === null || this.readThrough === null ? this.readThrough : unsent - 1n,
      outcomes: this.outcomes,
      unfinished: unfinished.map(({ delivery }) => delivery),
      claimAction: this.inFlight.size > 0 ? 'keep' : this.mustEnd() ? 'release' : 'release_if_done',
    };
    [this.outcomes, this.canceled, this.pending, this.retries] = [[], [], [], []];
    this.readThrough = null;
    const stored = await this.deps.store.store(results);
    for (const open of unfinished) open.hasRow = true;
    return stored;
  }

  private mustEnd(): boolean {
    return this.signal.aborted || performance.now() - this.beganAt >= MAX_RUN_MS;
  }
}
