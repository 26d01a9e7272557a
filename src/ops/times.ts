import { parsedTextSchema } from '../core/checked-text.js';
import { type Instant, instant, isTimeZone, parseRfc3339 } from '../core/instant.js';
import { DatabaseClock } from '../ledger/database-clock.js';
import { option } from './inputs.js';
import { Lookup } from './lookups.js';
import { similarTo } from './similar.js';
import type { z } from 'zod';

/** Parses times and lengths of time. */

const UNIT_MS: Readonly<Record<string, number>> = { s: 1e3, m: 60e3, h: 3_600e3, d: 86_400e3 };
const DAY_MS = 86_400_000;

/** Parses `15m`, `24h`, `7d` to milliseconds. */
export const duration = parsedTextSchema(
  (given) => parseDuration(given, 90 * DAY_MS),
  (given) => `${given} is not a length of time of up to 90 days: write it as 15m, 24h or 7d`,
);

function parseDuration(given: string, maxMs: number): number | null {
  const [, count = '', unit = ''] = /^([0-9]{1,7})([smhd])$/.exec(given) ?? [];
  const ms = Number.parseInt(count, 10) * (UNIT_MS[unit] ?? Number.NaN);
  return ms <= maxMs ? ms : null;
}

/** Parses `15m`, `24h`, `7d`, or plain seconds, to seconds within these bounds. */
export const seconds = (min: number, max: number): z.ZodType<number, string> =>
  parsedTextSchema(
    (given) => {
      const ms = parseDuration(/^[0-9]+$/.test(given) ? `${given}s` : given, max * 1000);
      return ms !== null && ms >= min * 1000 ? ms / 1000 : null;
    },
    (given) =>
      `${given} is not from ${min} to ${max} seconds: write it as 15m, 24h, 7d, or in seconds`,
  );

/** The name of a zone that this machine knows. */
export const timeZone = parsedTextSchema(
  (given) => (isTimeZone(given) ? given : null),
  (given) => `${given} is not a time zone: ${similarZones(given)}`,
);

function similarZones(given: string): string {
  const place = (given.split('/').at(-1) ?? '').replaceAll(' ', '_');
  const similar = similarTo(place, Intl.supportedValuesOf('timeZone'));
  return similar.length > 0
    ? `did you mean ${similar.join(', ')}?`
    : 'use a name of the IANA database, such as America/Bogota, Europe/Madrid or UTC';
}

const DATES = 'a date (2026-11-30: its beginning in UTC), a date and time (2026-11-30T09:30Z)';
const PAST = `${DATES}, today or yesterday (in UTC), or how long before now (90s, 30m, 1h, 7d)`;
const FUTURE = `${DATES}, or how long after now (24h, 90d)`;
/** Explains `<time>` in the help of commands. */
export const TIME_FORMS = `A time is ${PAST}.`;
const DAYS_BEFORE: Readonly<Record<string, number>> = { today: 0, yesterday: 1 };
const MAX_FROM_NOW_MS = 3_650 * DAY_MS;

/** Parses a date, and a date and time, also as lists show it: without seconds and `T`. */
function parseTime(given: string): Instant | null {
  const full = given
    .replace(/^(\d{4}-\d\d-\d\d)$/, '$1T00:00:00Z')
    .replace(' ', 'T')
    .replace(/T(\d\d:\d\d)(?=[Zz+-])/, 'T$1:00');
  return parseRfc3339(full);
}

/** Now is the database's time when the command runs, or when it shows a list again. */
const timeSchema = (direction: 1 | -1, forms: string) =>
  parsedTextSchema(
    (given): Lookup<Instant> | null => {
      const at = parseTime(given);
      if (at !== null) return new Lookup(() => Promise.resolve(at));
      const days = direction === -1 ? DAYS_BEFORE[given] : undefined;
      const ms = parseDuration(given, MAX_FROM_NOW_MS);
      if (days === undefined && ms === null) return null;
      return new Lookup(async (reader) => {
        const now = await new DatabaseClock().read(reader);
        if (days !== undefined) return instant(now - (now % DAY_MS) - days * DAY_MS);
        return instant(now + direction * (ms ?? 0));
      });
    },
    (given) => `${given} is not a time: write ${forms}`,
  );

export const time = timeSchema(-1, PAST);
export const futureTime = timeSchema(1, FUTURE);
export const untilTime = (what: string) =>
  option(`<time> only what ${what} before this time; a date leaves that day out`, time.optional());
