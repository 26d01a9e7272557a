import { type Clock, type Instant, instant, systemClock } from '../core/instant.js';
import { string, time } from '../db/columns.js';
import type { Reader } from '../db/database.js';
import { groupBy } from '../core/collections.js';
import { auditLog } from '../db/entities/identity.js';
import { literal, literals } from '../db/statements.js';
import { correctIdClock, type Uuid } from '../core/ids.js';

/**
 * SQL for the time at which its statement begins. A statement that waits for locks begins before
 * the wait, so a transaction reads the time in a later statement.
 */
export const NOW_SQL = 'UTC_TIMESTAMP(3) AS now';

/** Upper limit for how far an account's last entry may be ahead of the database's clock. */
const MAX_AHEAD_MS = 5_000;

/** Rows dated longer ago are all committed, unless a COMMIT takes longer than this. */
export const SETTLED_AFTER_MS = 15_000;

/** The only clock that dates money, read under the locks. (docs/decisions/0023) */
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
    return this.parseReading(row?.now, sentAt);
  }

  /** Parses a reading that has just arrived. `sentAt` is the local time when it was requested. */
  parseReading(stored: unknown, sentAt: Instant): Instant {
    const read = time.parse(stored);
    const arrivedAt = this.clock();
    // Only a time outside the interval from `sentAt` to `arrivedAt` proves a difference.
    this.differenceMs = read < sentAt ? read - sentAt : read > arrivedAt ? read - arrivedAt : 0;
    if (this.clock === systemClock) correctIdClock(this.differenceMs);
    return read;
  }

  /**
   * Returns the earliest instant of a posting to an account whose last commit has this instant. It
   * is later, so that balances and their `as_of` separate the account's movements exactly.
   */
  earliestAfter(lastPostedAt: Instant): Instant {
    return instant(lastPostedAt + 1);
  }

  localNow(): Instant {
    return this.clock();
  }

  /**
   * Returns whether postings to the account are refused until an operator resets its clock, because
   * a new entry may not have an earlier date than the last one.
   */
  isTooFarAhead(lastPostedAt: Instant, now: Instant): boolean {
    return lastPostedAt - now > this.maxAheadMs;
  }
}

/** The action's details contain `seq`, the number of the account's last entry at that time. */
export const CLOCK_RESET_ACTION = 'account.reset_clock';

/** Returns the `seq` of each entry after which the account's clock was reset. */
export async function readClockResets(reader: Reader, accountId: Uuid): Promise<readonly bigint[]> {
  return (await readClockResetsByAccount(reader, [accountId])).get(accountId) ?? [];
}

/** Returns the clock resets by account, without accounts that were never reset. */
export async function readClockResetsByAccount(
  reader: Reader,
  accountIds: readonly Uuid[],
): Promise<ReadonlyMap<string, readonly bigint[]>> {
  const rows = await reader.query(
    `SELECT subject_id, details FROM audit_log WHERE subject_id IN (${literals(auditLog, 'subjectId', accountIds)})
     AND action=${literal(auditLog, 'action', CLOCK_RESET_ACTION)} ORDER BY id`,
  );
  return new Map(
    Array.from(
      groupBy(rows, (row) => string.parse(row.subject_id)),
      ([accountId, own]) => {
        const seqs = own.map(
          (row) => (JSON.parse(string.parse(row.details)) as { seq?: unknown }).seq,
        );
        return [accountId, [...new Set(seqs)].map((seq) => BigInt(String(seq)))];
      },
    ),
  );
}

/** Returns whether the account's clock was reset after this entry. */
export async function wasClockReset(
  reader: Reader,
  accountId: Uuid,
  seq: bigint,
): Promise<boolean> {
  return (await readClockResets(reader, accountId)).includes(seq);
}
