import { DateTime, IANAZone } from 'luxon';
import { type Instant, instant } from './instant.js';

/** A calendar month in a time zone: `startsAt <= t < endsAt`. */
export interface Month {
  readonly name: string;
  readonly startsAt: Instant;
  readonly endsAt: Instant;
}

const latest = new Map<string, Month>();

/** The last month of each zone is cached because nearly every call asks for it. */
export function monthOf(at: Instant, timeZone: string): Month {
  const known = latest.get(timeZone);
  if (known !== undefined && at >= known.startsAt && at < known.endsAt) return known;
  const start = DateTime.fromMillis(at, { zone: timeZone }).startOf('month');
  if (!start.isValid) throw new RangeError(`unknown time zone ${timeZone}`);
  const month = {
    name: start.toFormat('yyyy-MM'),
    startsAt: instant(start.toMillis()),
    endsAt: instant(start.plus({ months: 1 }).startOf('month').toMillis()),
  };
  latest.set(timeZone, month);
  return month;
}

/** Parses `2026-11`; null if the name is invalid. */
export function monthNamed(name: string, timeZone: string): Month | null {
  if (!/^[0-9]{4}-(0[1-9]|1[0-2])$/.test(name)) return null;
  return monthOf(
    instant(DateTime.fromISO(`${name}-15T12:00`, { zone: timeZone }).toMillis()),
    timeZone,
  );
}

/** Parses `2026-11-22` as `from <= t < to`; null if the name is not a day. */
export function dayNamed(
  name: string,
  timeZone: string,
): { readonly from: Instant; readonly to: Instant } | null {
  const start = DateTime.fromISO(name, { zone: timeZone });
  if (!/^[0-9]{4}-[0-9]{2}-[0-9]{2}$/.test(name) || !start.isValid) return null;
  return {
    from: instant(start.toMillis()),
    to: instant(start.plus({ days: 1 }).startOf('day').toMillis()),
  };
}

/** `2026-11-22 09:03:05 UTC-05:00` */
export function localTime(at: Instant, timeZone: string): string {
  return DateTime.fromMillis(at, { zone: timeZone }).toFormat("yyyy-MM-dd HH:mm:ss 'UTC'ZZ", {
    locale: 'en-US',
  });
}

/** `2026-11-22`, or the day `back` days earlier. */
export function localDay(at: Instant, timeZone: string, back = 0): string {
  return DateTime.fromMillis(at, { zone: timeZone }).minus({ days: back }).toFormat('yyyy-MM-dd');
}

export function isTimeZone(name: string): boolean {
  return IANAZone.isValidZone(name);
}
