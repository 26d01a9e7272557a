import { type ReadingBudget, unreadable } from '../sheet.js';
import { readWholePart } from './xml.js';

type NumberView = 'number' | 'date' | 'time' | 'duration';

export interface CellStyle {
  readonly view: NumberView;
  /** Cut to `MAX_FORMAT_SHOWN`; null for General and text. */
  readonly format: string | null;
  /** Whether the format shows a text as it is. */
  readonly showsText: boolean;
}

export const GENERAL: CellStyle = { view: 'number', format: null, showsText: true };

/** Built-in formats, without currency formats, which depend on the language. */
const BUILT_IN: Readonly<Record<string, string>> = {
  0: 'General',
  1: '0',
  2: '0.00',
  3: '#,##0',
  4: '#,##0.00',
  9: '0%',
  10: '0.00%',
  11: '0.00E+00',
  12: '# ?/?',
  13: '# ??/??',
  37: '#,##0 ;(#,##0)',
  38: '#,##0 ;[Red](#,##0)',
  48: '##0.0E+0',
  49: '@',
};

/** Ranges of built-in date formats, East Asian and Thai ones included. */
const DATE_FORMATS: readonly (readonly [first: number, last: number])[] = [
  [14, 22],
  [27, 36],
  [45, 47],
  [50, 58],
  [71, 81],
];
const TIME_FORMATS: readonly number[] = [18, 19, 20, 21, 45, 47];
const DURATION_FORMAT = 46;

/** More than any spreadsheet program can create. */
const MAX_STYLES = 100_000;

const MAX_FORMAT = 1_000;
const MAX_FORMAT_SHOWN = 60;

export async function readStyles(
  bytes: AsyncIterable<Buffer>,
  budget: ReadingBudget,
): Promise<readonly CellStyle[]> {
  const customFormats = new Map<string, CellStyle>();
  const formatIds: string[] = [];
  let section = '';
  let tags = 0;
  await readWholePart(bytes, budget, {
    open(name, attributes, depth) {
      if (depth === 2) section = name;
      if (depth !== 3) return;
      // Counts tags, not formats: one id may be repeated.
      tags += 1;
      if (tags > MAX_STYLES) throw unreadable('the workbook has too many cell styles');
      if (section === 'numFmts' && name === 'numFmt')
        customFormats.set(attributes['numFmtId'] ?? '', styleOf(attributes['formatCode'] ?? ''));
      if (section === 'cellXfs' && name === 'xf') formatIds.push(attributes['numFmtId'] ?? '0');
    },
  });
  if (formatIds.length === 0) return [GENERAL];
  return formatIds.map((id) => customFormats.get(id) ?? builtInStyle(id));
}

function builtInStyle(id: string): CellStyle {
  const code = BUILT_IN[id];
  if (code !== undefined) return styleOf(code);
  const number = /^\d{1,3}$/.test(id) ? Number.parseInt(id, 10) : 0;
  const format = `number format ${id.slice(0, MAX_FORMAT_SHOWN)}`;
  const style = { format, showsText: true } as const;
  if (!DATE_FORMATS.some(([first, last]) => number >= first && number <= last))
    return { ...style, view: 'number' };
  if (number === DURATION_FORMAT) return { ...style, view: 'duration' };
  return { ...style, view: TIME_FORMATS.includes(number) ? 'time' : 'date' };
}

/** General and text. Some programs write `Standard` for General. */
const PLAIN = /^(?:general|standard|@)$/i;

function styleOf(code: string): CellStyle {
  if (PLAIN.test(code)) return GENERAL;
  const format = code.slice(0, MAX_FORMAT_SHOWN);
  return { view: viewOf(code), format, showsText: showsText(code) };
}

/**
 * Judges the section of a format code for texts: the one with `@`, or else the fourth. Without one,
 * a text is shown as it is. Colours and spaces do not count.
 */
function showsText(formatCode: string): boolean {
  const code = formatCode.slice(0, MAX_FORMAT);
  const sections = [{ shown: '', hasText: false }];
  for (let at = 0; at < code.length;) {
    const [character = '', section] = [code[at], sections.at(-1)];
    const next = nextIndex(code, character, at);
    if (character === ';') sections.push({ shown: '', hasText: false });
    else if (section !== undefined) {
      section.hasText ||= character === '@';
      section.shown += shownBy(code.slice(at, next));
    }
    at = next;
  }
  const section = sections.find(({ hasText }) => hasText) ?? sections[3];
  return section === undefined || PLAIN.test(section.shown.trim());
}

/** Returns what a part of a format code shows. A currency in brackets (`[$USD-409]`) is shown. */
function shownBy(part: string): string {
  if (part.startsWith('"')) return part.replaceAll('"', '');
  if (part.startsWith('[')) return /^\[\$([^\]-]*)/.exec(part)?.[1] ?? '';
  if (part.startsWith('\\')) return part.slice(1);
  return /^[_*]/.test(part) ? '' : part;
}

/**
 * Judges a format code by its letters outside quotes, escapes, colours and conditions. An elapsed
 * time in brackets (`[h]`) is a duration. An unclosed part extends to the end.
 */
export function viewOf(formatCode: string): NumberView {
  const code = formatCode.slice(0, MAX_FORMAT);
  let letters = '';
  for (let at = 0; at < code.length;) {
    const character = code[at] ?? '';
    if (character === '[' && ELAPSED.test(code.slice(at + 1, endIndex(code, ']', at))))
      return 'duration';
    if (DATE_LETTER.test(character)) letters += character;
    at = nextIndex(code, character, at);
  }
  if (letters === '') return 'number';
  // `m` means minutes next to hours or seconds, and months otherwise.
  return /[hs]/i.test(letters) && !/[yd]/i.test(letters) ? 'time' : 'date';
}

const DATE_LETTER = /[ymdhs]/i;
const ELAPSED = /^(?:h+|m+|s+)$/i;

function nextIndex(code: string, character: string, at: number): number {
  if (character === '"' || character === '[')
    return endIndex(code, character === '[' ? ']' : '"', at) + 1;
  // The next character is shown literally, or leaves a space of its width.
  return character === '\\' || character === '_' || character === '*' ? at + 2 : at + 1;
}

function endIndex(code: string, closing: string, at: number): number {
  const end = code.indexOf(closing, at + 1);
  return end < 0 ? code.length : end;
}

const DAY_S = 86_400;
/**
 * Spreadsheets number 29 February 1900, a day that did not exist. The days before it are therefore
 * numbered from 31 December 1899 (day 0), and the days after it as if from 30 December.
 */
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

/** A day, a time or both. Every part is optional, so the text must also contain a digit. */
const ISO = /^(?:(\d{4}-\d\d-\d\d)(?:T|$))?T?(?:(\d\d:\d\d)(:\d\d)?(?:\.\d+)?)?Z?$/;

/** Null if the text of a cell of type `d` is not a date or a time. */
export function isoOfText(text: string): string | null {
  const parts = ISO.exec(text);
  if (parts === null || !/\d/.test(text)) return null;
  const [, day, hoursAndMinutes = '00:00', seconds = ':00'] = parts;
  const written = `${day ?? '1970-01-01'}T${hoursAndMinutes}${seconds}`;
  const at = Date.parse(`${written}Z`);
  // `Date` turns 31 February into 3 March.
  if (Number.isNaN(at) || !new Date(at).toISOString().startsWith(written)) return null;
  return day === undefined ? `${hoursAndMinutes}${seconds}` : isoOfInstant(at);
}

function isoOfInstant(at: number): string {
  const [day = '', time = ''] = new Date(at).toISOString().slice(0, 19).split('T');
  return time === '00:00:00' ? day : `${day}T${time}`;
}

function clockTime(seconds: number): string {
  const two = (count: number): string => Math.floor(count).toString().padStart(2, '0');
  return `${two(seconds / 3600)}:${two((seconds / 60) % 60)}:${two(seconds % 60)}`;
}
