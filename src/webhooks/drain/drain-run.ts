import type { Instant } from '../../core/instant.js';
import { instant } from '../../core/instant.js';
import type { Uuid } from '../../core/ids.js';
import { updateSql } from '../../db/statements.js';
import { type WebhookEndpoint, webhookEndpoints } from '../../db/entities/webhooks.js';
import { transact } from '../../db/transact.js';
import { sendMessage } from '../attempts.js';
import type { WebhookParts } from '../parts.js';
import { type Health, healthAfter, isCutOff, nextDue } from '../rules.js';
import {
  type EndpointState,
  isHeld,
  isWanted,
  LEASE_MS,
  lockForDrain,
  parseState,
  releaseLease,
  stateSql,
  TakenOver,
} from './lease.js';
import { earliestDue, readDue } from './open-deliveries.js';
import { hasMore, step } from './stepping.js';
import { type Outcome, storeOutcomes } from './storing.js';
import type { DrainOptions, DrainResult, Random } from './types.js';
import { MAX_CLAIMED, MAX_RETRIES, type Taken, Window } from './window.js';

/** How often it looks for what others have made due: while it sends, while its receiver hangs, and with nothing in its hands. */
const LOOK_MS = 250;
const HANGING_LOOK_MS = 1_000;
const EMPTY_LOOK_MS = 100;
/** How often it looks for retries whose time has come. */
const RETRIES_LOOK_MS = 1_000;
const HEARTBEAT_MS = 1_000;
const RENEW_MS = LEASE_MS / 3;
/** What those on their way may take after a stop. */
const STOP_MS = 10_000;
/** A new step is taken when so few are left in line. */
const FEW = MAX_CLAIMED / 2;
/** Outcomes that may wait to be stored; beyond, nothing new is sent. */
const MAX_UNSTORED = 64;

type Ended = DrainResult['ended'];

/**
 * One run: a loop that alone speaks to the database (outcomes are stored, the cursor steps, what became due is read), beside sends
 * that begin and end by themselves. What ends while a group of outcomes is being stored is the next group.
 */
export class DrainRun {
  private readonly id: Uuid;
  private readonly fence: bigint;
  private readonly window = new Window();
  private readonly sends = new AbortController();
  private readonly beganAt = performance.now();
  /** As the outcomes have left it that are not stored yet. */
  private health: Health;
  private outcomes: Outcome[] = [];
  private stored = 0;
  private lookedAt = Number.NEGATIVE_INFINITY;
  private retriesReadAt = Number.NEGATIVE_INFINITY;
  /** What the endpoint said was due when the line was last read; undefined: it never was. */
  private toldDueAt: Instant | null | undefined;
  /** Whether anything has ended since it last looked. */
  private hasMoved = false;
  private renewedAt = performance.now();
  private idleSince: number | null = null;
  private isEnding = false;
  private fault: Error | null = null;
  private wake: () => void = () => undefined;

  constructor(
    private readonly parts: WebhookParts,
    private state: EndpointState,
    private readonly options: DrainOptions,
    private readonly random: Random,
  ) {
    this.health = state.endpoint;
    this.id = state.endpoint.id;
    this.fence = state.endpoint.fence;
  }

  async run(): Promise<{ ended: Ended; attempts: number; nextDueAt: Instant | null }> {
    const { heartbeat, signal } = this.options;
    const beat = setInterval(heartbeat, HEARTBEAT_MS);
    const onAbort = (): void => this.wake();
    signal.addEventListener('abort', onAbort);
    try {
      const ended = await this.loop();
      await this.finish();
      return { ended, attempts: this.stored, nextDueAt: await this.release() };
    } catch (failure) {
      if (failure instanceof TakenOver) return { ended: 'taken_over', attempts: this.stored, nextDueAt: null };
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
    if (!this.isIdle()) this.idleSince = null;
    else if (now - (this.idleSince ??= now) >= this.options.lookOnMs) return 'idle';
    return null;
  }

  private isIdle(): boolean {
    const { pending, retries, onTheWay } = this.window.load;
    if (onTheWay > 0 || this.outcomes.length > 0) return false;
    // While it is probed nothing moves before the next probe.
    const { probeAt } = this.health;
    if (probeAt !== null && probeAt > this.parts.clock()) return true;
    return pending + retries === 0 && !hasMore(this.state);
  }

  private isProbed(): boolean {
    return this.health.probeAt !== null;
  }

  private lookMs(): number {
    const { pending, retries, onTheWay } = this.window.load;
    if (pending + retries + onTheWay === 0 || this.idleSince !== null) return EMPTY_LOOK_MS;
    return this.hasMoved ? LOOK_MS : HANGING_LOOK_MS;
  }

  /** Until something ends, or it is time to look. */
  private wait(): Promise<void> {
    if (this.outcomes.length > 0) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, Math.max(1, this.lookedAt + this.lookMs() - performance.now()));
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Steps the cursor when few are in line; looks for the rest when it is time. */
  private async fill(): Promise<void> {
    if (performance.now() - this.lookedAt >= this.lookMs()) await this.look();
    const { pending, retries } = this.window.load;
    if (isHeld(this.state.endpoint) || !hasMore(this.state)) return;
    const isShort = this.isProbed() ? pending + retries === 0 : pending < FEW;
    if (isShort && this.window.pendingRoom > 0) await this.step();
  }

  private async look(): Promise<void> {
    const { reader } = this.parts.database;
    this.lookedAt = performance.now();
    this.hasMoved = false;
    const state = parseState(await reader.query(stateSql(this.id)));
    if (state?.endpoint.fence !== this.fence) throw new TakenOver('another drain has the endpoint');
    this.see(state);
    if (this.lookedAt - this.renewedAt >= RENEW_MS) await this.renew();
    if (!isHeld(state.endpoint)) await this.readLines(state.endpoint);
  }

  /** Reads more than there is room for: those that it has already are among them. */
  private async readLines(endpoint: WebhookEndpoint): Promise<void> {
    const { database, clock } = this.parts;
    // Whoever makes a delivery due says so beside the endpoint.
    const isTold = endpoint.nextDueAt !== this.toldDueAt;
    const isTime = isTold || this.lookedAt - this.retriesReadAt >= RETRIES_LOOK_MS;
    const { pendingRoom, retryRoom } = this.window;
    const read = async (state: 'pending' | 'retrying', most: number): Promise<boolean> => {
      const due = await readDue(database.reader, endpoint, state, clock(), most);
      this.window.add(due);
      return due.length < most;
    };
    // What did not fit is read as soon as there is room again.
    if (isTold && pendingRoom >= FEW && (await read('pending', MAX_CLAIMED))) this.toldDueAt = endpoint.nextDueAt;
    if (isTime && retryRoom >= FEW / 2 && (await read('retrying', MAX_RETRIES))) this.retriesReadAt = this.lookedAt;
  }

  /** Takes over what is stored, and what it knows beyond that. */
  private see(state: EndpointState): void {
    this.state = state;
    this.health = this.outcomes.reduce<Health>(
      (health, outcome) =>
        outcome.result === null ? health : healthAfter(health, outcome.result, outcome.isProbe, outcome.endedAt),
      state.endpoint,
    );
  }

  private async step(): Promise<void> {
    const { database, clock } = this.parts;
    const room = this.window.pendingRoom;
    const { state, added, madeDue } = await transact(database, (transaction) =>
      step(transaction, this.id, this.fence, room, clock()),
    );
    this.renewedAt = performance.now();
    this.see(state);
    this.window.add(added);
    if (madeDue) this.retriesReadAt = this.lookedAt = Number.NEGATIVE_INFINITY;
  }

  private async renew(): Promise<void> {
    const { database, clock } = this.parts;
    const leaseUntil = instant(clock() + LEASE_MS);
    const touched = await transact(database, (transaction) =>
      transaction.execute(updateSql(webhookEndpoints, { leaseUntil }, { id: this.id, fence: this.fence })),
    );
    if (touched === 0) throw new TakenOver('another drain has the endpoint');
    this.renewedAt = performance.now();
  }

  private async store(): Promise<void> {
    const { database, clock } = this.parts;
    const group = this.outcomes;
    this.outcomes = [];
    const state = await transact(database, (transaction) =>
      storeOutcomes(transaction, this.id, this.fence, group, clock(), this.random),
    );
    this.renewedAt = performance.now();
    this.stored += group.filter(({ result }) => result !== null).length;
    for (const { delivery } of group) this.window.forget(delivery.id);
    this.see(state);
  }

  /** Begins every send that may begin now. */
  private pump(): void {
    while (!this.isEnding && !this.options.signal.aborted && this.outcomes.length < MAX_UNSTORED) {
      if (performance.now() - this.beganAt >= this.options.maxMs || isHeld(this.state.endpoint)) return;
      const taken = this.window.take(this.health, this.parts.clock());
      if (taken === null) return;
      void this.send(taken);
    }
  }

  private async send({ open: { delivery, body }, isProbe }: Taken): Promise<void> {
    const { parts, state } = this;
    const beganAt = parts.clock();
    try {
      if (body === null || !isWanted(state.types, delivery.eventType)) this.outcomes.push({ delivery, result: null });
      else {
        const message = { id: delivery.eventId, body };
        const { sending, encryptionKeys, failpoints } = parts;
        failpoints.pass('before_send');
        const result = await sendMessage(sending, encryptionKeys, state.endpoint, message, beganAt, this.sends.signal);
        failpoints.pass('after_send');
        const endedAt = parts.clock();
        if (isCutOff(result)) this.window.forget(delivery.id);
        else {
          this.outcomes.push({ delivery, result, isProbe, beganAt, endedAt });
          this.health = healthAfter(this.health, result, isProbe, endedAt);
        }
      }
    } catch (fault) {
      this.fault ??= fault instanceof Error ? fault : new Error(String(fault));
    }
    this.hasMoved = true;
    this.window.landed(delivery.id);
    this.pump();
    this.wake();
  }

  /** Nothing new begins; what is on its way is waited for and stored. */
  private async finish(): Promise<void> {
    this.isEnding = true;
    this.window.clearLine();
    const cut = setTimeout(() => this.sends.abort(), STOP_MS);
    try {
      while (this.window.load.onTheWay > 0 || this.outcomes.length > 0) {
        if (this.fault !== null) throw this.fault;
        if (this.outcomes.length > 0) await this.store();
        else if (performance.now() - this.renewedAt >= RENEW_MS) await this.renew();
        else await this.wait();
      }
    } finally {
      clearTimeout(cut);
    }
  }

  /** Answers when something is due next. */
  private async release(): Promise<Instant | null> {
    const { database, clock } = this.parts;
    return transact(database, async (transaction) => {
      const state = await lockForDrain(transaction, this.id, this.fence);
      const earliest = hasMore(state) ? clock() : await earliestDue(transaction, this.id);
      const due = nextDue(earliest, state.endpoint);
      await releaseLease(transaction, this.id, this.fence, due);
      return isHeld(state.endpoint) ? null : due;
    });
  }
}
