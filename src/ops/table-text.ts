import Table from 'cli-table3';
import { systemClock, toRfc3339 } from '../core/instant.js';
import { escapeInvisible, RIGHT_TO_LEFT } from '../core/text.js';
import { PROGRAM } from './help.js';

/** Spaces between columns. */
export const GAP = 2;
/** Tables have neither lines nor colours, because they are pasted into tickets. */
const LINES =
  'top top-left top-mid top-right mid left-mid mid-mid right-mid ' +
  'bottom bottom-left bottom-mid bottom-right left middle right';
const NO_LINES = Object.fromEntries(LINES.split(' ').map((name) => [name, '']));
const PLAIN_STYLE = { head: [], border: [], 'padding-left': 0, 'padding-right': GAP };

/** A cell of a line; two spaces end it. Isolated once widths are known, so that columns stay in order. */
const CELL = /\S+(?: \S+)*/g;

/** Returns rows as lines with aligned columns. */
export function renderTable(rows: readonly (readonly string[])[]): string {
  const table = new Table({ chars: NO_LINES, style: PLAIN_STYLE });
  table.push(...rows.map((row) => [...row]));
  return table
    .toString()
    .replaceAll(/ +$/gm, '')
    .replaceAll(CELL, (cell) => (RIGHT_TO_LEFT.test(cell) ? `\u2068${cell}\u2069` : cell));
}

/** Breaks lines between words. A longer word, such as an address to copy, stays whole. */
export function wrapWords(text: string, width: number): string {
  const fitting = new RegExp(String.raw`(?!$)(?:.{1,${width}}|\S+)(?: |$)`, 'g');
  const wrapped = text.split('\n').map((line) => line.match(fitting)?.join('\n') ?? line);
  return wrapped.join('\n');
}

/** Breaks words that are longer than a line. */
function breakWords(text: string, width: number): string {
  return text.replaceAll(new RegExp(String.raw`\S{${width}}(?=\S)`, 'g'), '$&\n');
}

/** Breaks a text between words. A command to paste has a line of its own. */
export function wrapText(text: string, width: number): string {
  if (isWithin(text, width)) return text;
  const ownLine = new RegExp(` (?=${PROGRAM} )`, 'g');
  const lines = text.replaceAll(ownLine, '\n').split('\n');
  return lines.map((line) => (line.startsWith(PROGRAM) ? line : wrapWords(line, width))).join('\n');
}

export function headingOf(name: string): string {
  return escapeInvisible(name).replaceAll('_', ' ');
}

export function isWithin(text: string, width: number): boolean {
  return text.split('\n').every((line) => line.length <= width);
}

interface TextTable {
  readonly names: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** The beginning of an id that has its time in milliseconds. */
export const SHORT_ID = 13;
/** States, times, amounts, aliases and other words, which are not cut. */
const WHOLE = /^(?:[\w.:+$*-]*|–|-?[\d,.]+ [A-Z]+|[\d-]+ [\d:]+Z)$/;
/** The shown end of a bank account, which remains of a text that is cut. */
const BANK_ACCOUNT_END = /\*{4}\w{1,4}$/;
const MIN_TEXT = 10;
/** Texts are not cut to less for a last column that is not a text, such as a time. */
const MIN_TEXT_BEFORE_WORDS = 24;
/** Columns that a table always has. */
const MIN_COLUMNS = 2;

/** Shortens ids, which stay distinct within their column, and leaves the present year out of times. */
function shorten({ names, rows }: TextTable, year: string): TextTable {
  const lengths = names.map((_, column) => {
    const ids = [...new Set(rows.map((row) => row[column] ?? ''))].filter((cell) => ID.test(cell));
    let length = SHORT_ID;
    while (new Set(ids.map((id) => id.slice(0, length))).size < ids.length) length += 1;
    return length;
  });
  const ofYear = new RegExp(`^${year}-(?=\\d\\d-\\d\\d \\d\\d:\\d\\d(?::\\d\\d)?Z$)`);
  const cellOf = (cell: string, column: number): string =>
    ID.test(cell) ? cell.slice(0, lengths[column]) : cell.replace(ofYear, '');
  return { names, rows: rows.map((row) => row.map(cellOf)) };
}

function widthsOf({ names, rows }: TextTable): number[] {
  const cells = [names.map(headingOf), ...rows];
  return names.map((_, column) =>
    cells
      .flatMap((row) => row[column]?.split('\n') ?? [])
      .reduce((most, line) => Math.max(most, line.length), 0),
  );
}

function totalOf(widths: readonly number[]): number {
  return widths.reduce((sum, one) => sum + one + GAP, -GAP);
}

/** Cuts the longest texts, until the table has this width or they are short. Wraps those of the column `wraps`. */
function cutTexts(table: TextTable, width: number, wraps: string): TextTable {
  const widths = widthsOf(table);
  const areTexts = table.names.map((_, at) => table.rows.some((row) => !WHOLE.test(row[at] ?? '')));
  const most = areTexts.at(-1) === true ? MIN_TEXT : MIN_TEXT_BEFORE_WORDS;
  const least = areTexts.map((isText, at) => {
    if (!isText) return Infinity;
    return table.names[at] === wraps ? MIN_TEXT_BEFORE_WORDS : most;
  });
  for (let excess = totalOf(widths) - width; excess > 0; excess -= 1) {
    const widest = widths.reduce(
      (best, wide, at) => (wide > Math.max(least[at] ?? 0, widths[best] ?? 0) ? at : best),
      -1,
    );
    if (widest < 0) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  const cellOf = (cell: string, column: number): string => {
    const most = widths[column] ?? Infinity;
    const [end = ''] = BANK_ACCOUNT_END.exec(cell) ?? [];
    if (table.names[column] === wraps) return breakWords(wrapWords(cell, most), most);
    return cell.length > most ? `${cell.slice(0, most - 1 - end.length)}…${end}` : cell;
  };
  return { ...table, rows: table.rows.map((row) => row.map(cellOf)) };
}

/**
 * Returns a table of at most `width` characters: if it is wider, its ids and times are shortened, its
 * texts are cut, except in the column `wraps`, whose texts go on in the next lines, and its last columns are left out,
 * one after another. With `isWhole` no text is cut and no column is left out. Undefined if it is still wider.
 */
export function tableWithin(
  width: number,
  table: TextTable,
  isWhole = false,
  wraps = '',
): { readonly text: string; readonly leftOut: readonly string[] } | undefined {
  const { names } = table;
  const fits = (one: TextTable): boolean => totalOf(widthsOf(one)) <= width;
  const textOf = (one: TextTable): string => renderTable([one.names.map(headingOf), ...one.rows]);
  if (fits(table)) return { text: textOf(table), leftOut: [] };
  const short = shorten(table, toRfc3339(systemClock()).slice(0, 4));
  const least = isWhole ? names.length : Math.min(MIN_COLUMNS, names.length);
  for (let count = names.length; count >= least; count -= 1) {
    const first = {
      names: names.slice(0, count),
      rows: short.rows.map((row) => row.slice(0, count)),
    };
    const cut = isWhole ? first : cutTexts(first, width, wraps);
    if (fits(cut)) return { text: textOf(cut), leftOut: names.slice(count) };
  }
  return undefined;
}
