import { type Clock, type Instant, instant, systemClock } from '../core/instant.js';
import { time } from '../db/columns.js';
import type { Reader } from '../db/database.js';

/**
 * Time at which a statement begins. A statement that waits for locks begins before the wait, so a
 * transaction reads this time in a later statement.
 */
export const NOW_SQL = 'UTC_TIMESTAMP(3) AS now';

/** Upper limit for how far an account's last entry may be ahead of the database's clock. */
const MAX_AHEAD_MS = 5_000;

/**
 * Age at which a date is settled: every transaction with an earlier date has been committed, unless
 * its COMMIT takes longer than this.
 */
export const SETTLED_AFTER_MS = 15_000;

/**
 * The database's clock, the only clock that dates money. Each ledger transaction reads it after it
 * has locked its accounts. (docs/decisions/0023-the-database-clock.md)
 */
export class DatabaseClock {
  private differenceMs = 0;

  constructor(
    private readonly clock: Clock = systemClock,
    private readonly maxAheadMs = MAX_AHEAD_MS,
  ) {}

  /** Returns the local clock, corrected by the last reading, without a query. */
  readonly now: Clock = () => instant(this.clock() + this.differenceMs);

  /** Reads the clock. Throws `DatabaseUnavailable`. */
  async read(reader: Reader): Promise<Instant> {
    const sentAt = this.clock();
    const [row] = await reader.query(`SELECT ${NOW_SQL}`);
    return this.reading(row?.now, sentAt);
  }

  /**
   * Parses a reading that has just arrived. `sentAt` is the local time at which the query was sent.
   */
  reading(stored: unknown, sentAt: Instant): Instant {
    const read = time.parse(stored);
    const arrivedAt = this.clock();
    // The server read its clock between `sentAt` and `arrivedAt`. Only a time outside this interval
    // proves a difference.
    this.differenceMs = read < sentAt ? read - sentAt : read > arrivedAt ? read - arrivedAt : 0;
    return read;
  }

  /** Returns the local time, to pass to `reading`. */
  sentAt(): Instant {
    return this.clock();
  }

  /**
   * Whether the account's last entry is too far in the future. A new entry may not have an earlier
   * date, so the account is refused until an operator resets its clock.
   */
  isTooFarAhead(lastPostedAt: Instant, now: Instant): boolean {
    return lastPostedAt - now > this.maxAheadMs;
  }
}
