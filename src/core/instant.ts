import { DateTime } from 'luxon';

declare const instantBrand: unique symbol;

export type Instant = number & { readonly [instantBrand]: true };

/** Passed down so that tests can choose the time. */
export type Clock = () => Instant;

export const systemClock: Clock = () => Date.now() as Instant;

export function instant(epochMs: number): Instant {
  return Math.trunc(epochMs) as Instant;
}

/** RFC 3339 in UTC with milliseconds and `Z`; null stays null. */
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
const LATEST = Date.UTC(9999, 11, 31, 23, 59, 59, 998);

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
  const finer = /[1-9]/.test(fraction.slice(3));
  const named = base.toMillis() + (finer && round === 'up' ? 1 : 0);
  return instant(Math.min(Math.max(named, EARLIEST), LATEST));
}

export function maxInstant(...instants: readonly Instant[]): Instant {
  return Math.max(...instants) as Instant;
}
