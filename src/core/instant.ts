import { DateTime, IANAZone } from 'luxon';

declare const instantBrand: unique symbol;

export type Instant = number & { readonly [instantBrand]: true };

/** Passed down so that tests can choose the time. */
export type Clock = () => Instant;

export const systemClock: Clock = () => Date.now() as Instant;

export function instant(epochMs: number): Instant {
  return Math.trunc(epochMs) as Instant;
}

/** Returns RFC 3339 in UTC with milliseconds and `Z`; null for null. */
export function toRfc3339(at: Instant): string;
export function toRfc3339(at: Instant | null): string | null;
export function toRfc3339(at: Instant | null): string | null {
  return at === null ? null : new Date(at).toISOString();
}

const RFC3339 =
  /^(\d{4}-\d{2}-\d{2}[Tt](?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d)(?:\.(\d{1,18}))?([Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;
/** The range of a DATETIME column. A bound beyond it means the same as its end. */
const EARLIEST = Date.UTC(1000, 0, 1);
/** Leaves room for the next millisecond, which a search for the first row after a bound needs. */
export const LATEST = instant(Date.UTC(9999, 11, 31, 23, 59, 59, 998));

/**
 * Parses RFC 3339, or returns null. A fraction finer than a millisecond is rounded in the given
 * direction, so that an inclusive bound admits exactly the stored milliseconds within it.
 */
export function parseRfc3339(text: string, round: 'up' | 'down' = 'down'): Instant | null {
  const match = RFC3339.exec(text);
  if (match === null) return null;
  const fraction = match[2] ?? '';
  const base = DateTime.fromISO(
    `${match[1]?.toUpperCase()}.${fraction.slice(0, 3).padEnd(3, '0')}${match[3]?.toUpperCase()}`,
  );
  if (!base.isValid) return null;
  const isFiner = /[1-9]/.test(fraction.slice(3));
  const epochMs = base.toMillis() + (isFiner && round === 'up' ? 1 : 0);
  return instant(Math.min(Math.max(epochMs, EARLIEST), LATEST));
}

export function maxInstant(...instants: readonly Instant[]): Instant {
  return Math.max(...instants) as Instant;
}

/** A calendar month in a time zone: `startsAt <= t < endsAt`. */
export interface Month {
  readonly name: string;
  readonly startsAt: Instant;
  readonly endsAt: Instant;
}

const lastMonths = new Map<string, Month>();

/** Returns the month of an instant. Caches the last month of each zone, which most calls need. */
export function monthOf(at: Instant, timeZone: string): Month {
  const known = lastMonths.get(timeZone);
  if (known !== undefined && at >= known.startsAt && at < known.endsAt) return known;
  const { year, month: number, isValid } = DateTime.fromMillis(at, { zone: timeZone });
  if (!isValid) throw new RangeError(`unknown time zone ${timeZone}`);
  const startsOn = Date.UTC(year, number - 1);
  const month = {
    name: new Date(startsOn).toISOString().slice(0, 7),
    startsAt: momentOf(startsOn, timeZone),
    endsAt: momentOf(Date.UTC(year, number), timeZone),
  };
  lastMonths.set(timeZone, month);
  return month;
}

/** Parses `2026-11`, or returns null. */
export function parseMonth(name: string, timeZone: string): Month | null {
  if (!/^[0-9]{4}-(0[1-9]|1[0-2])$/.test(name)) return null;
  return monthOf(
    instant(DateTime.fromISO(`${name}-15T12:00`, { zone: timeZone }).toMillis()),
    timeZone,
  );
}

const DAY_MS = 24 * 3_600_000;

/**
 * Returns the moment at which the clocks of a zone show `wallClock`, given as that time in UTC. Where a
 * clock change repeats the time, this is the first of the two; where it skips the time, as long after
 * the change as the time is after its beginning.
 */
export function momentOf(wallClock: number, timeZone: string): Instant {
  const zone = IANAZone.create(timeZone);
  const candidates = [wallClock - DAY_MS, wallClock + DAY_MS].map(
    (near) => wallClock - zone.offset(near) * 60_000,
  );
  const [first = wallClock, last = wallClock] = candidates.toSorted((one, other) => one - other);
  const isShown = first + zone.offset(first) * 60_000 === wallClock;
  return instant(isShown ? first : last);
}

/** Returns what the clocks of a zone show at a moment, as a date-time in UTC. */
export function wallClockOf(at: Instant, timeZone: string): DateTime {
  return DateTime.fromMillis(at, { zone: timeZone }).setZone('UTC', { keepLocalTime: true });
}

/** Parses `2026-11-22` as `from <= t < to`, or returns null. */
export function parseDay(
  name: string,
  timeZone: string,
): { readonly from: Instant; readonly to: Instant } | null {
  const midnight = DateTime.fromISO(name, { zone: 'UTC' });
  if (!/^[0-9]{4}-[0-9]{2}-[0-9]{2}$/.test(name) || !midnight.isValid) return null;
  const startsOn = midnight.toMillis();
  if (startsOn < EARLIEST + DAY_MS || startsOn > LATEST - 2 * DAY_MS) return null;
  return {
    from: momentOf(startsOn, timeZone),
    to: momentOf(startsOn + DAY_MS, timeZone),
  };
}

/** Returns `2026-11-22 09:03:05 UTC-05:00`. */
export function localTime(at: Instant, timeZone: string): string {
  return DateTime.fromMillis(at, { zone: timeZone }).toFormat("yyyy-MM-dd HH:mm:ss 'UTC'ZZ", {
    locale: 'en-US',
  });
}

/** Returns the day of the instant as `2026-11-22`, or the day `back` days earlier. */
export function localDay(at: Instant, timeZone: string, back = 0): string {
  return DateTime.fromMillis(at, { zone: timeZone }).minus({ days: back }).toFormat('yyyy-MM-dd');
}

export function isTimeZone(name: string): boolean {
  return IANAZone.isValidZone(name);
}
