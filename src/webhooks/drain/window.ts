import type { Uuid } from '../../core/ids.js';
import type { Instant } from '../../core/instant.js';
import { type Health, type Load, nextLane } from '../rules.js';
import type { OpenDelivery } from './open-deliveries.js';

/** The most untried deliveries that a drain claims ahead of sending. */
export const MAX_CLAIMED = 100;
/** The most retries that it reads ahead. */
export const MAX_RETRIES = 50;

/** A receiver that has answered nothing for this long is silent. */
const SILENT_MS = 2_000;

interface Taken {
  readonly open: OpenDelivery;
  readonly isProbe: boolean;
}

/** What a drain holds: bounded, however much waits in the database. */
export class Window {
  private pending: OpenDelivery[] = [];
  private retries: OpenDelivery[] = [];
  /** Deliveries taken whose outcome is not yet being stored. */
  private readonly onTheWay = new Map<
    Uuid,
    { readonly isRetry: boolean; readonly sinceMs: number }
  >();
  /** Every delivery from when it was read until its outcome is stored, so that none is read twice. */
  private readonly known = new Set<Uuid>();
  /** By the monotonic clock: when the last answer came, or the first attempt in flight was sent. */
  private answeredAt = performance.now();

  get load(): Load {
    return {
      pending: this.pending.length,
      retries: this.retries.length,
      onTheWay: this.onTheWay.size,
      retriesOnTheWay: [...this.onTheWay.values()].filter(({ isRetry }) => isRetry).length,
      isSilent: this.onTheWay.size > 0 && performance.now() - this.answeredAt >= SILENT_MS,
    };
  }

  longestMs(): number {
    const since = Array.from(this.onTheWay.values(), ({ sinceMs }) => sinceMs);
    return performance.now() - Math.min(performance.now(), ...since);
  }

  get pendingRoom(): number {
    return Math.max(0, MAX_CLAIMED - this.pending.length);
  }

  get retryRoom(): number {
    return Math.max(0, MAX_RETRIES - this.retries.length);
  }

  /** Queues those that it does not have yet. Returns how many. */
  add(deliveries: readonly OpenDelivery[]): number {
    const unknown = deliveries.filter(({ delivery }) => !this.known.has(delivery.id));
    for (const open of unknown) {
      this.known.add(open.delivery.id);
      (open.delivery.state === 'pending' ? this.pending : this.retries).push(open);
    }
    return unknown.length;
  }

  /** The next delivery that may be sent, or null. During a probe it is the one that has waited longest. */
  take(health: Health, now: Instant): Taken | null {
    const lane = nextLane(this.load, health, now);
    if (lane === null) return null;
    const from =
      lane === 'probe' ? this.oldestLane() : lane === 'pending' ? this.pending : this.retries;
    const open = from.shift();
    if (open === undefined) return null;
    if (this.onTheWay.size === 0) this.answeredAt = performance.now();
    this.onTheWay.set(open.delivery.id, {
      isRetry: from === this.retries,
      sinceMs: performance.now(),
    });
    return { open, isProbe: lane === 'probe' };
  }

  private oldestLane(): OpenDelivery[] {
    const [pending, retry] = [this.pending[0]?.delivery, this.retries[0]?.delivery];
    if (pending === undefined) return this.retries;
    if (retry === undefined) return this.pending;
    return (retry.nextAttemptAt ?? 0) <= (pending.nextAttemptAt ?? 0) ? this.retries : this.pending;
  }

  /** Adds one that has been in flight for long. */
  adopt(id: Uuid): void {
    this.known.add(id);
    this.onTheWay.set(id, { isRetry: false, sinceMs: -Infinity });
  }

  /** Its attempt is over; `isAnswered`: the receiver answered. */
  landed(id: Uuid, isAnswered: boolean): void {
    this.onTheWay.delete(id);
    if (isAnswered) this.answeredAt = performance.now();
  }

  /** Its outcome is stored, or it was abandoned: it may be read again. */
  forget(id: Uuid): void {
    this.onTheWay.delete(id);
    this.known.delete(id);
  }

  clearLine(): void {
    for (const { delivery } of [...this.pending, ...this.retries]) this.known.delete(delivery.id);
    this.pending = [];
    this.retries = [];
  }
}
