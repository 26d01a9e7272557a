import { type Clock, type Instant, instant, systemClock } from '../core/instant.js';
import { time } from '../db/columns.js';
import type { Reader } from '../db/database.js';

/**
 * The time at which a statement begins. A statement that waits for locks begins before the wait, so the time of a
 * decision is read by a later statement.
 */
export const NOW_SQL = 'UTC_TIMESTAMP(3) AS now';

/** An account dated further ahead of the database's clock is not posted to. */
const MAX_AHEAD_MS = 5_000;

/** The time after which everything of an earlier date is committed, except a COMMIT that takes longer. */
export const SETTLED_AFTER_MS = 15_000;

/**
 * The database's clock, the only one that dates money: each ledger transaction reads it behind its locks.
 * (docs/decisions/0023-the-database-clock.md)
 */
export class DatabaseClock {
  private differenceMs = 0;

  constructor(
    private readonly clock: Clock = systemClock,
    private readonly maxAheadMs = MAX_AHEAD_MS,
  ) {}

  /** Estimates the database's time without asking: this process's clock, corrected by the last reading. */
  readonly now: Clock = () => instant(this.clock() + this.differenceMs);

  /** Throws DatabaseUnavailable. */
  async read(reader: Reader): Promise<Instant> {
    const sentAt = this.clock();
    const [row] = await reader.query(`SELECT ${NOW_SQL}`);
    return this.reading(row?.now, sentAt);
  }

  /** Parses a reading that was sent at `sentAt` by this process's clock and has just arrived. */
  reading(stored: unknown, sentAt: Instant): Instant {
    const read = time.parse(stored);
    const arrivedAt = this.clock();
    // The server read its clock between the two, so only a time outside them proves a difference.
    this.differenceMs = read < sentAt ? read - sentAt : read > arrivedAt ? read - arrivedAt : 0;
    return read;
  }

  /** Returns this process's time for `reading`. */
  sentAt(): Instant {
    return this.clock();
  }

  /** Whether an account posted to at `lastPostedAt` would carry a wrong date on: it is refused until it is reset. */
  isTooFarAhead(lastPostedAt: Instant, now: Instant): boolean {
    return lastPostedAt - now > this.maxAheadMs;
  }
}
