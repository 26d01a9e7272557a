import type { NumberView } from './styles.js';

const DAY_S = 86_400;
/** 29 February 1900 did not exist. Earlier days are counted from one day later. */
const LEAP_DAY = 60;
const EPOCH_MS = Date.UTC(1899, 11, 30);
const EARLY_EPOCH_MS = Date.UTC(1899, 11, 31);
const EPOCH_1904_MS = Date.UTC(1904, 0, 1);
const LAST_MS = Date.UTC(9999, 11, 31, 23, 59, 59);

/**
 * Returns a cell's number of days as ISO 8601: `2026-11-01`, `2026-11-01T13:30:00`, `13:30:00` for
 * a time, `36:00:00` for a duration. Null if spreadsheets cannot show the date.
 */
export function isoOfDays(text: string, view: NumberView, is1904: boolean): string | null {
  const seconds = Math.round(Number(text) * DAY_S);
  if (!(seconds >= 0 && seconds * 1000 <= LAST_MS - EPOCH_MS)) return null;
  if (view === 'duration' || (view === 'time' && seconds < DAY_S)) return clockTime(seconds);
  const day = Math.floor(seconds / DAY_S);
  if (!is1904 && (day === 0 || day === LEAP_DAY)) return null;
  const early = day < LEAP_DAY ? EARLY_EPOCH_MS : EPOCH_MS;
  const at = (is1904 ? EPOCH_1904_MS : early) + seconds * 1000;
  return at > LAST_MS ? null : isoOfInstant(at);
}

const ISO = /^(?:(\d{4}-\d\d-\d\d)(?:T|$))?T?(?:(\d\d:\d\d)(:\d\d)?(?:\.\d+)?)?Z?$/;

/** Null if the text of a cell of type `d` is not a date or a time. */
export function isoOfText(text: string): string | null {
  const parts = ISO.exec(text);
  if (parts === null || !/\d/.test(text)) return null;
  const [, day, minutes = '00:00', seconds = ':00'] = parts;
  const written = `${day ?? '1970-01-01'}T${minutes}${seconds}`;
  const at = Date.parse(`${written}Z`);
  // `Date` turns 31 February into 3 March.
  if (Number.isNaN(at) || !new Date(at).toISOString().startsWith(written)) return null;
  return day === undefined ? `${minutes}${seconds}` : isoOfInstant(at);
}

function isoOfInstant(at: number): string {
  const [day = '', time = ''] = new Date(at).toISOString().slice(0, 19).split('T');
  return time === '00:00:00' ? day : `${day}T${time}`;
}

function clockTime(seconds: number): string {
  const two = (count: number): string => Math.floor(count).toString().padStart(2, '0');
  return `${two(seconds / 3600)}:${two((seconds / 60) % 60)}:${two(seconds % 60)}`;
}
